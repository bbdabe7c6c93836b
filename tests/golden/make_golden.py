#!/usr/bin/env python3
"""Writes what PyTorch computes for the rows of the case table, and the paths of its optimisers.

    apt-get install python3-torch && python3 tests/golden/make_golden.py

Run by hand, when a row is added; the tests read the two files and need no Python. Everything is
float64. Inputs hold float32 numbers, so that float32 starts from the same ones.

    rows.safetensors    ROW/input.0, ...   ROW/output   ROW/upstream   ROW/gradient.0, ...
                        ROW is the id of a row of tests/op_cases; integers and truth values, and
                        inputs that the row gives no gradient, have none.
    optim.safetensors   NAME/start (N), NAME/gradients (10, N), NAME/path (10, N): the parameter
                        after each step; the options of NAME stand in golden_test.cpp.
"""

import math

import torch
import torch.nn.functional as F

from golden_file import fixed, generator, known, real, row, tensors, truth, whole, write

# ------------------------------------------------------------------ rows


def elementwise():
    positive = dict(low=0.3, high=3.0)
    for name, f, spread in [
        ("neg", torch.neg, {}),
        ("abs", torch.abs, dict(away=[0])),
        ("sign", torch.sign, dict(away=[0])),
        ("square", torch.square, {}),
        ("reciprocal", torch.reciprocal, positive),
        ("reciprocal.negative", torch.reciprocal, dict(low=-2, high=-0.3)),
        ("sqrt", torch.sqrt, positive),
        ("rsqrt", torch.rsqrt, positive),
        ("exp", torch.exp, {}),
        ("exp2", torch.exp2, {}),
        ("expm1", torch.expm1, {}),
        ("log", torch.log, positive),
        ("log2", torch.log2, positive),
        ("log10", torch.log10, positive),
        ("log1p", torch.log1p, dict(low=-0.8)),
        ("sin", torch.sin, dict(low=-4, high=4)),
        ("cos", torch.cos, dict(low=-4, high=4)),
        ("erf", torch.erf, dict(low=-3, high=3)),
        ("floor", torch.floor, dict(away=[-2, -1, 0, 1, 2])),
        ("ceil", torch.ceil, dict(away=[-2, -1, 0, 1, 2])),
        ("round", torch.round, dict(away=[-1.5, -0.5, 0.5, 1.5])),
        ("trunc", torch.trunc, dict(away=[-2, -1, 0, 1, 2])),
        ("relu", torch.relu, dict(away=[0])),
        ("tanh", torch.tanh, {}),
        ("tanh.far", torch.tanh, dict(low=-40, high=40)),
        ("sigmoid", torch.sigmoid, {}),
        ("sigmoid.far", torch.sigmoid, dict(low=-60, high=60)),
        ("log_sigmoid", F.logsigmoid, {}),
        ("log_sigmoid.far", F.logsigmoid, dict(low=-60, high=60)),
        ("gelu", F.gelu, dict(low=-3, high=3)),
        ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), dict(low=-3, high=3)),
        ("silu", F.silu, dict(low=-4, high=4)),
        ("softplus", lambda x: F.softplus(x, threshold=1e9), dict(low=-4, high=4)),
        ("mish", F.mish, dict(low=-4, high=4)),
        ("elu", F.elu, dict(away=[0])),
        ("elu.alpha", lambda x: F.elu(x, 0.5), dict(away=[0])),
        ("leaky_relu", F.leaky_relu, dict(away=[0])),
        ("leaky_relu.steep", lambda x: F.leaky_relu(x, 2), dict(away=[0])),
        ("hardtanh", F.hardtanh, dict(low=-3, high=3, away=[-1, 1])),
        ("hardtanh.six", lambda x: F.hardtanh(x, 0, 6), dict(low=-9, high=9, away=[0, 6])),
        ("clamp", lambda x: torch.clamp(x, -1, 0.5), dict(away=[-1, 0.5])),
        ("pow.cube", lambda x: x**3, {}),
        ("pow.square", lambda x: x**2, {}),
        ("pow.zero", lambda x: x**0, {}),
        ("pow.half", lambda x: x**0.5, positive),
        ("pow.inverse", lambda x: x**-1, positive),
        ("mul.operators", lambda x: (x + 1) * (x - 2) / 3 - -x, {}),
        ("mul.itself", lambda x: x * x, {}),
    ]:
        row(name, f, real(3, 1, 7, **spread))
    for name, f, second in [
        ("add", torch.add, {}),
        ("sub", torch.sub, {}),
        ("mul", torch.mul, {}),
        ("div", torch.div, dict(low=0.4, high=2.5)),
        ("maximum", torch.maximum, {}),
        ("minimum", torch.minimum, {}),
        ("atan2", torch.atan2, dict(away=[0])),
    ]:
        row(name, f, real(3, 5, away=[0]), real(3, 5, **second))
        label = "broadcast" if name == "atan2" else "outer"
        shapes = [(3, 1), (4,)] if name == "atan2" else [(2, 1, 3), (4, 1)]
        row(f"{name}.{label}", f, real(*shapes[0], away=[0]), real(*shapes[1], **second))
    row("pow", torch.pow, real(3, 5, low=0.4, high=2.5), real(3, 5))
    row("pow.outer", torch.pow, real(2, 1, 3, low=0.4, high=2.5), real(4, 1))
    row("remainder", torch.remainder, known([1.3, -1.3, 1.3, -1.3, 0.4, 7.1]),
        known([0.5, 0.5, -0.5, -0.5, 2, -1.6]))
    row("lerp", lambda a, b, w: torch.lerp(a, b, w.expand(3, 4)), real(3, 4), real(4), real(3, 1))
    row("lerp.number", lambda a, b: torch.lerp(a, b, 0.3), real(3, 4), real(3, 4))
    row("where", torch.where, truth(3, 4), real(3, 4), real(3, 4))
    row("where.broadcast", torch.where, truth(2, 1, 3), real(4, 1), real())
    row("masked_fill", lambda x, m: x.masked_fill(m, -7.5), real(2, 3, 4), truth(3, 1))


AXES = [("", None, False), ("last", (-1,), False), ("middle", (1,), False),
        ("first_and_last", (0, 2), False), ("last_two_kept", (-1, -2), True)]


def labelled(name, label):
    return f"{name}.{label}" if label else name


def reductions():
    for label, axes, keep in AXES:
        shape = (2, 3, 4) if axes else (3, 5)
        where = axes or tuple(range(len(shape)))
        for name, f in [("sum", torch.sum), ("mean", torch.mean), ("amax", torch.amax),
                        ("amin", torch.amin), ("var", torch.var), ("std", lambda x, axes, keepdim: torch.std(x, axes, False, keepdim)),
                        ("logsumexp", torch.logsumexp)]:
            row(labelled(name, label), lambda x: f(x, where, keepdim=keep),
                real(*shape, ties=name not in ("amax", "amin")))
    row("max.values_last", lambda x: x.max(-1).values, real(3, 4, 2, ties=False))
    row("min.values_first", lambda x: x.min(0, keepdim=True).values, real(3, 4, 2, ties=False))
    row("max.indices_last", lambda x: x.max(-1).indices, fixed(real(3, 4, 2, ties=False)))
    row("argmin.first", lambda x: x.argmin(0, keepdim=True), fixed(real(3, 4, 2, ties=False)))
    inf = float("inf")
    for label, p, axes, keep in [("", 2, None, False), ("last_kept", 2, -1, True),
                                 ("first", 2, 0, False), ("p1", 1, 1, False),
                                 ("p3", 3, (0, 2), False), ("half", 0.5, -1, False),
                                 ("infinity", inf, -1, False)]:
        row(labelled("norm", label), lambda x: torch.linalg.vector_norm(x, p, axes, keep),
            real(2, 3, 4, low=-2, high=3, away=[0]) if p != inf else real(2, 3, 4, low=-2, high=3, ties=False))
    row("prod", torch.prod, real(2, 5))
    row("prod.last_kept", lambda x: x.prod(-1, True), real(2, 3, 4))
    row("prod.first_and_last", lambda x: x.prod(2).prod(0), real(2, 3, 4))
    zeros = [[0.5, 0, -1.5, 2], [0, 1, 0, -1], [0.7, 1.2, -0.4, 2]]
    row("prod.zeros", lambda x: x.prod(1), known(zeros))
    row("cumprod.zeros", lambda x: x.cumprod(-1), known(zeros))
    for name in ("cumsum", "cumprod", "logcumsumexp"):
        f = getattr(torch, name)
        for label, axis in (("first", 0), ("middle", 1), ("last", -1)):
            row(f"{name}.{label}", lambda x: f(x, axis), real(3, 4, 2))
    row("sort.last_values", lambda x: x.sort(-1).values, real(3, 4, 5, ties=False))
    row("sort.first_descending_values", lambda x: x.sort(0, True).values, real(3, 4, 5, ties=False))
    row("argsort.last", lambda x: x.argsort(-1), fixed(real(3, 6, ties=False)))
    row("topk.last_values", lambda x: x.topk(2, -1).values, real(3, 4, 5, ties=False))
    row("topk.middle_smallest_values", lambda x: x.topk(3, 1, False).values, real(3, 4, 5, ties=False))


def shapes():
    row("permute", lambda x: x.permute(2, 0, 1), real(2, 3, 4))
    row("transpose", lambda x: x.transpose(0, -1), real(2, 3, 4))
    row("expand", lambda x: x.expand(2, 3, 4), real(3, 1))
    row("select", lambda x: x.select(1, 2), real(3, 4, 2))
    row("slice.step", lambda x: x[:, 1::2], real(3, 7))
    row("cat", lambda *x: torch.cat(x), real(2, 3), real(1, 3), real(4, 3))
    row("stack.middle", lambda *x: torch.stack(x, 1), real(2, 3), real(2, 3))
    row("flip", lambda x: x.flip(0, -1), real(3, 2, 4))
    row("repeat", lambda x: x.repeat(2, 1, 3), real(2, 3))
    row("repeat_interleave", lambda x: x.repeat_interleave(3, 1), real(2, 3, 4))
    row("roll.last", lambda x: x.roll(1, -1), real(3, 4, 5))
    row("roll.first", lambda x: x.roll(-2, 0), real(3, 4, 5))
    row("pad.two_axes", lambda x: F.pad(x, (0, 1, 2, 0), value=-1.5), real(2, 3, 4))
    row("pad.crop_and_pad", lambda x: F.pad(x, (-1, 2, 1, -2), value=3), real(3, 4))
    row("unfold", lambda x: x.unfold(1, 3, 1), real(2, 5, 3))
    row("unfold.apart", lambda x: x.unfold(1, 2, 3), real(2, 5, 3))
    for label, k in (("", 0), ("above", 1), ("below", -2)):
        row(labelled("tril", label), lambda x: x.tril(k), real(2, 3, 4))
        row(labelled("triu", label), lambda x: x.triu(k), real(2, 3, 4))
    row("diag.above", lambda x: x.diag(1), real(4))
    row("diag.from_below", lambda x: x.diag(-2), real(4, 3))
    row("meshgrid.second", lambda *x: torch.meshgrid(*x, indexing="ij")[1], real(3), real(4), real())
    row("gather", lambda x, i: x.gather(1, i), real(3, 4), whole(3, 6, high=4))
    row("gather.smaller_index", lambda x, i: x.gather(0, i), real(4, 3, 2), whole(2, 2, 1, high=4))
    row("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), real(4, 3), whole(6, 3, high=4), real(6, 3))
    row("scatter.last", lambda x, i, s: x.scatter(-1, i, s), real(2, 3, 4),
        torch.rand((2, 3, 4), generator=generator).argsort(-1)[..., :2].contiguous(), real(2, 3, 2))
    row("index_select", lambda x, i: x.index_select(1, i), real(2, 4, 3), whole(5, high=4))
    row("index_put_add", lambda x, i, v: x.index_put((i,), v, accumulate=True), real(4, 3),
        whole(6, high=4), real(6, 3))
    row("embedding", lambda w, i: F.embedding(i, w), real(5, 3), whole(2, 4, high=5))
    row("one_hot", lambda i: F.one_hot(i, 4), whole(2, 3, high=4))
    row("masked_select", lambda x, m: x.masked_select(m), real(3, 4), truth(3, 4))


def products():
    for label, a, b in [("", (3, 4), (4, 5)), ("vectors", (4,), (4,)),
                        ("vector_matrix", (4,), (4, 3)), ("matrix_vector", (3, 4), (4,)),
                        ("batch", (2, 3, 4), (2, 4, 5)), ("broadcast", (2, 1, 3, 4), (5, 4, 2)),
                        ("batch_vector", (2, 3, 4), (4,)), ("vector_batch", (4,), (2, 4, 3))]:
        row(labelled("matmul", label), torch.matmul, real(*a), real(*b))
    row("linear", F.linear, real(3, 4), real(5, 4), real(5))
    row("linear.batch", F.linear, real(2, 3, 4), real(5, 4), real(5))
    row("linear.no_bias", F.linear, real(2, 3, 4), real(5, 4))
    row("dot", torch.dot, real(7), real(7))
    row("outer", torch.outer, real(3), real(4))
    row("bmm", torch.bmm, real(2, 3, 4), real(2, 4, 5))
    for label, equation, *operands in [
        ("scores", "bqd,bkd->bqk", (2, 3, 4), (2, 2, 4)),
        ("trace", "ii->", (4, 4)),
        ("batch_diagonal", "iji->ji", (3, 2, 3)),
        ("outer", "i,j->ji", (3,), (4,)),
        ("alone_in_one", "ik,jl->ij", (2, 3), (4, 2)),
        ("chain", "ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
        ("bilinear", "bi,oij,bj->bo", (2, 3), (4, 3, 2), (2, 2)),
        ("dots_implicit", "...ij,...jk", (2, 1, 3, 4), (2, 4, 2)),
    ]:
        row(f"einsum.{label}", lambda *x: torch.einsum(equation, *x), *[real(*s) for s in operands])


def sparsemax(x, axis):
    """Martins & Astudillo 2016, algorithm 1."""
    sorted_x, _ = x.sort(axis, descending=True)
    n = x.shape[axis]
    k = torch.arange(1, n + 1, dtype=x.dtype).reshape([-1 if d == axis % x.dim() else 1 for d in range(x.dim())])
    sums = sorted_x.cumsum(axis)
    size = ((1 + k * sorted_x) > sums).sum(axis, keepdim=True)
    tau = (sums.gather(axis, size - 1) - 1) / size
    return torch.clamp(x - tau, min=0)


def normalisations():
    for name, f in (("softmax", torch.softmax), ("log_softmax", torch.log_softmax)):
        row(name, lambda x: f(x, -1), real(3, 5, low=-3, high=3))
        row(f"{name}.first", lambda x: f(x, 0), real(4, 3))
        row(f"{name}.middle", lambda x: f(x, 1), real(2, 4, 3))
        row(f"{name}.far", lambda x: f(x, -1), real(2, 4, low=-6, high=6))
    row("sparsemax", lambda x: sparsemax(x, -1), real(3, 5))
    row("sparsemax.middle", lambda x: sparsemax(x, 1), real(2, 4, 3))
    row("layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b), real(2, 3, 5), real(5), real(5))
    row("layer_norm.plain", lambda x: F.layer_norm(x, (5,)), real(2, 3, 5))
    row("layer_norm.no_bias", lambda x, w: F.layer_norm(x, (5,), w), real(2, 3, 5), real(5))
    row("layer_norm.eps", lambda x: F.layer_norm(x, (5,), eps=0.5), real(2, 3, 5))
    row("rms_norm", lambda x, w: x / torch.sqrt((x * x).mean(-1, True) + 0.1) * w, real(2, 3, 5), real(5))
    row("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, True, eps=0.1),
        real(3, 2, 2, 2), real(2), real(2))
    row("batch_norm.two_axes", lambda x, w, b: F.batch_norm(x, None, None, w, b, True, eps=0.1),
        real(3, 5), real(5), real(5))
    row("batch_norm.running", lambda x, m, v: (x - m[:, None]) / torch.sqrt(v[:, None] + 0.1),
        real(3, 2, 4), real(2), real(2, low=0.5))

    def moved(x, which):
        state = [torch.full((2,), 3.0), torch.full((2,), 5.0)]
        F.batch_norm(x, *state, training=True, momentum=0.25)
        return state[which]

    row("batch_norm.moved_mean", lambda x: moved(x, 0), fixed(real(4, 2, 3)))
    row("batch_norm.moved_var", lambda x: moved(x, 1), fixed(real(4, 2, 3)))
    row("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b, 0.1), real(2, 4, 3), real(4), real(4))
    row("group_norm.one_group", lambda x: F.group_norm(x, 1), real(2, 3, 2, 2))


def windows():
    row("conv2d", F.conv2d, real(2, 3, 4, 5), real(2, 3, 3, 2), real(2))
    row("conv2d.stride_padding", lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2)),
        real(1, 2, 5, 4), real(3, 2, 3, 3), real(3))
    row("conv2d.dilation", lambda x, w: F.conv2d(x, w, None, (1, 2), (0, 1), (2, 1)),
        real(1, 2, 5, 4), real(2, 2, 2, 2))
    row("conv2d.groups", lambda x, w, b: F.conv2d(x, w, b, 1, 1, 1, 2), real(2, 4, 3, 3),
        real(6, 2, 2, 2), real(6))
    row("conv2d.depthwise", lambda x, w: F.conv2d(x, w, groups=3), real(1, 3, 4, 4), real(3, 1, 2, 3))
    row("conv1d", lambda x, w, b: F.conv1d(x, w, b, 2, 1, 2, 2), real(2, 4, 7), real(2, 2, 3), real(2))
    row("conv1d.plain", F.conv1d, real(1, 2, 5), real(3, 2, 2))
    row("conv_transpose2d", F.conv_transpose2d, real(2, 3, 2, 3), real(3, 2, 3, 2), real(2))
    row("conv_transpose2d.stride_padding",
        lambda x, w, b: F.conv_transpose2d(x, w, b, (2, 3), (1, 0), (1, 2), 1, (1, 2)),
        real(1, 2, 3, 2), real(2, 3, 3, 2), real(3))
    row("conv_transpose2d.groups", lambda x, w, b: F.conv_transpose2d(x, w, b, 1, 1, 0, 2),
        real(2, 4, 3, 3), real(4, 3, 2, 2), real(6))
    row("max_pool2d", lambda x: F.max_pool2d(x, 2), real(2, 2, 4, 5, ties=False))
    row("max_pool2d.padded", lambda x: F.max_pool2d(x, (3, 2), (2, 3), (1, 1)), real(1, 2, 5, 4, ties=False))
    row("avg_pool2d", lambda x: F.avg_pool2d(x, 2), real(2, 2, 4, 5))
    row("avg_pool2d.padded", lambda x: F.avg_pool2d(x, (3, 2), (2, 3), (1, 1)), real(1, 2, 5, 4))
    for label, corners in (("", False), ("corners", True)):
        edges = [-1, -1 / 3, 1 / 3, 1] if corners else [-1.25, -0.75, -0.25, 0.25, 0.75, 1.25]
        row(labelled("grid_sample", label), lambda x, g: F.grid_sample(x, g, align_corners=corners),
            real(2, 3, 4, 4), real(2, 2, 5, 2, low=-1.4, high=1.4, away=edges))
        row(labelled("affine_grid", label),
            lambda t: F.affine_grid(t, (2, 1, 3, 4), align_corners=corners), real(2, 2, 3))
    row("interpolate", lambda x: F.interpolate(x, (5, 3)), real(2, 2, 3, 4))
    row("interpolate.bilinear", lambda x: F.interpolate(x, (5, 3), mode="bilinear"), real(2, 2, 3, 4))
    row("interpolate.corners",
        lambda x: F.interpolate(x, (5, 3), mode="bilinear", align_corners=True), real(2, 2, 3, 4))
    row("interpolate.double", lambda x: F.interpolate(x, (6, 8), mode="bilinear"), real(2, 2, 3, 4))


def losses():
    weight = torch.tensor([0.5, 2, 1, 0.25])
    ids = torch.tensor([[0, 2, 3], [1, 2, 1]])

    def last(f):
        """PyTorch has the classes second, the rows have them last."""
        return lambda x, t: f(x.movedim(-1, 1), t)

    for label in ("", "sum", "none"):
        how = label or "mean"
        prefix = label + "_" if label else ""
        row(labelled("cross_entropy", label), last(lambda x, t: F.cross_entropy(x, t, reduction=how)),
            real(2, 3, 4), whole(2, 3, high=4))
        row(f"cross_entropy.{prefix}smooth_ignore",
            last(lambda x, t: F.cross_entropy(x, t, ignore_index=2, label_smoothing=0.1, reduction=how)),
            real(2, 3, 4), ids.clone())
        row(f"cross_entropy.{prefix}weights_smooth_ignore",
            last(lambda x, t: F.cross_entropy(x, t, weight, ignore_index=2, label_smoothing=0.1,
                                              reduction=how)), real(2, 3, 4), ids.clone())
        row(labelled("nll_loss", label), last(lambda x, t: F.nll_loss(x, t, ignore_index=1, reduction=how)),
            real(2, 3, 4, low=-4, high=0), ids.clone())
        row(f"nll_loss.{prefix}weights",
            last(lambda x, t: F.nll_loss(x, t, weight, ignore_index=1, reduction=how)),
            real(2, 3, 4, low=-4, high=0), ids.clone())
        row(labelled("mse_loss", label), lambda x, t: F.mse_loss(x, t, reduction=how), real(3, 4), real(3, 4))
        row(labelled("binary_cross_entropy_with_logits", label),
            lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction=how),
            real(3, 4), real(3, 4, low=0, high=1))
        row(labelled("binary_cross_entropy", label),
            lambda x, t: -(t * torch.log(x) + (1 - t) * torch.log(1 - x)) if how == "none"
            else getattr(torch, how)(-(t * torch.log(x) + (1 - t) * torch.log(1 - x))),
            real(3, 4, low=0.05, high=0.95), real(3, 4, low=0, high=1))
        row(labelled("l1_loss", label), lambda x, t: F.l1_loss(x, t, reduction=how), real(3, 4),
            real(3, 4, low=3, high=5))
        row(labelled("huber_loss", label), lambda x, t: F.huber_loss(x, t, reduction=how), real(3, 4),
            real(3, 4, low=4, high=5))
        row(labelled("kl_div", label), lambda x, t: F.kl_div(x, t, reduction=how), real(3, 4),
            real(3, 4, low=0.1, high=1))
    row("huber_loss.near", lambda x, t: F.huber_loss(x, t, reduction="none"),
        real(3, 4, low=-0.4, high=0.4), real(3, 4, low=-0.4, high=0.4))


def layers():
    row("Linear", F.linear, real(2, 3, 4), real(5, 4), real(5))
    row("Embedding", lambda i, w: F.embedding(i, w, padding_idx=2), whole(2, 4, high=5), real(5, 3))
    row("LayerNorm", lambda x, w, b: F.layer_norm(x, (5,), w, b), real(2, 3, 5), real(5), real(5))
    row("Sequential", lambda x, w1, b1, w2, b2: F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2),
        real(3, 4), real(5, 4), real(5), real(2, 5), real(2))

    def gru(x, h, *parameters):
        cell = torch.nn.GRUCell(3, 2)
        return torch.nn.utils.stateless.functional_call(cell, dict(zip(
            ("weight_ih", "weight_hh", "bias_ih", "bias_hh"), parameters)), (x, h))

    row("GRUCell", gru, real(4, 3), real(4, 2), real(6, 3), real(6, 2), real(6), real(6))

    def attention(q, k, v, wq, bq, wk, bk, wv, bv, wo, bo, keep=None):
        y, _ = F.multi_head_attention_forward(
            q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), 4, 2, None,
            torch.cat([bq, bk, bv]), None, None, False, 0.0, wo, bo,
            use_separate_proj_weight=True, q_proj_weight=wq, k_proj_weight=wk, v_proj_weight=wv)
        return y.transpose(0, 1)

    for label, kdim, vdim in (("", 4, 4), (".widths", 3, 2)):
        row(f"MultiHeadAttention{label}", attention, real(2, 3, 4), real(2, 5, kdim), real(2, 5, vdim),
            real(4, 4), real(4), real(4, kdim), real(4), real(4, vdim), real(4), real(4, 4), real(4))


def attention():
    """softmax(q k' / sqrt(D)) v with masks given as additions of -inf."""
    inf = float("inf")

    def attended(q, k, v, keep):
        s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return torch.softmax(s.masked_fill(~keep, -inf), -1) @ v

    every = torch.ones(1, 1, dtype=torch.bool)
    row("scaled_dot_product_attention", lambda q, k, v: attended(q, k, v, every),
        real(2, 2, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 3))
    row("scaled_dot_product_attention.causal",
        lambda q, k, v: attended(q, k, v, torch.ones(4, 4).tril().bool()),
        real(1, 2, 4, 3), real(1, 2, 4, 3), real(1, 2, 4, 3))
    row("scaled_dot_product_attention.causal_longer_keys",
        lambda q, k, v: attended(q, k, v, torch.ones(2, 5).tril(3).bool()),
        real(1, 1, 2, 3), real(1, 1, 5, 3), real(1, 1, 5, 2))
    row("scaled_dot_product_attention.padded", attended, real(2, 2, 3, 4), real(2, 2, 5, 4),
        real(2, 2, 5, 3), torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]]).bool()[:, None, None])
    row("scaled_dot_product_attention.grouped",
        lambda q, k, v: attended(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), every),
        real(2, 4, 2, 3), real(2, 2, 3, 3), real(2, 2, 3, 3))
    row("masked_softmax", lambda x, keep: torch.softmax(x.masked_fill(~keep, -inf), -1),
        real(2, 3, 4), torch.tensor([[1, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 1]]).bool())


def positions():
    """As Meta's LLaMA, Hugging Face's LLaMA and T5, and the papers write them."""

    def neighbours(x, angle):
        turn = torch.polar(torch.ones_like(angle), angle)
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * turn).flatten(-2)

    def halves(x, angle):
        a, b = x.chunk(2, -1)
        twice = torch.cat([angle, angle], -1)
        return x * twice.cos() + torch.cat([-b, a], -1) * twice.sin()

    def clocks(places, pairs, d):
        return places[:, None] * torch.exp(torch.arange(pairs) * (-2 * math.log(10000.0) / d))

    def sinusoids(x):
        t, d = x.shape[-2:]
        angle = clocks(torch.arange(t), (d + 1) // 2, d)
        table = torch.zeros(t, d)
        table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()[:, : d // 2]
        return x + table

    row("rope", neighbours, real(2, 2, 3, 6), fixed(real(3, 3, low=-4, high=4)))
    row("rope.half", halves, real(2, 2, 3, 6), fixed(real(3, 3, low=-4, high=4)))
    row("SinusoidalPositions", sinusoids, real(2, 3, 5))
    row("LearnedPositions", lambda x, w: x + w[1:4], real(2, 3, 3), real(5, 3))
    row("RotaryPositions", lambda x: neighbours(x, clocks(torch.arange(3), 3, 6)), real(2, 2, 3, 6))
    row("RotaryPositions.half_offset", lambda x: halves(x, clocks(1000 + torch.arange(3), 3, 6)),
        real(2, 2, 3, 6))

    def distances(tq, tk):
        return torch.arange(tk)[None] - torch.arange(tk - tq, tk)[:, None]

    slopes = 2.0 ** (torch.arange(1, 4) * (-8 / 3))
    row("AlibiBias", lambda x: x - slopes[:, None, None] * distances(2, 4).abs(), real(2, 3, 2, 4))

    def t5(x, weight, both, buckets=8, farthest=9):
        d = distances(*x.shape[-2:])
        first = 0
        if both:
            buckets //= 2
            first, n = (d > 0).long() * buckets, d.abs()
        else:
            n = (-d).clamp(min=0)
        exact = buckets // 2
        far = exact + (torch.log(n.float() / exact) / math.log(farthest / exact) * (buckets - exact)).long()
        bucket = first + torch.where(n < exact, n, far.clamp(max=buckets - 1))
        return x + weight[bucket].permute(2, 0, 1)

    row("T5Bias", lambda x, w: t5(x, w, True), real(2, 2, 8, 11), real(8, 2))
    row("T5Bias.causal", lambda x, w: t5(x, w, False), real(2, 2, 8, 11), real(8, 2))

    def shaw(q, k, v, a, b, causal=False):
        d = distances(q.shape[-2], k.shape[-2])
        near = d.clamp(-2, 2) + 2
        s = torch.einsum("bhid,bhijd->bhij", q, k[:, :, None] + a[near]) / math.sqrt(q.shape[-1])
        p = torch.softmax(s.masked_fill(d > 0, -float("inf")) if causal else s, -1)
        return torch.einsum("bhij,bhijd->bhid", p, v[:, :, None] + b[near])

    for label, tq in (("", 4), (".causal", 3)):
        row(f"ShawRelative{label}", lambda *x: shaw(*x, causal=bool(label)), real(2, 2, tq, 3),
            real(2, 2, 5, 3), real(2, 2, 5, 3), real(5, 3), real(5, 3))


# ------------------------------------------------------------------ optimisers

paths = {}


def path(name, make):
    start = real(6)
    gradients = real(10, 6)
    gradients[3, 2] = 0
    gradients[5] *= 100
    p = start.clone().requires_grad_()
    optimiser = make([p])
    steps = []
    for g in gradients:
        p.grad = g.clone()
        optimiser.step()
        steps.append(p.detach().clone())
    paths[f"{name}/start"] = start
    paths[f"{name}/gradients"] = gradients
    paths[f"{name}/path"] = torch.stack(steps)


def optimisers():
    o = torch.optim
    for decay in (0, 0.1):
        label = "_decay" if decay else ""
        path(f"sgd{label}", lambda p: o.SGD(p, 0.05, weight_decay=decay))
        path(f"sgd_momentum{label}", lambda p: o.SGD(p, 0.05, 0.9, weight_decay=decay))
        path(f"sgd_dampened{label}", lambda p: o.SGD(p, 0.05, 0.9, 0.3, weight_decay=decay))
        path(f"sgd_nesterov{label}", lambda p: o.SGD(p, 0.05, 0.9, nesterov=True, weight_decay=decay))
        path(f"adam{label}", lambda p: o.Adam(p, 0.05, (0.8, 0.97), 1e-6, weight_decay=decay))
        path(f"adamw{label}", lambda p: o.AdamW(p, 0.05, (0.8, 0.97), 1e-6, weight_decay=decay))
        path(f"rmsprop{label}", lambda p: o.RMSprop(p, 0.05, 0.9, 1e-6, weight_decay=decay))
        path(f"adagrad{label}", lambda p: o.Adagrad(p, 0.05, 0.2, decay, 0.5, 1e-8))


if __name__ == "__main__":
    for part in (elementwise, reductions, shapes, products, normalisations, windows, losses, layers, attention):
        part()
    optimisers()
    positions()
    write("rows.safetensors", tensors)
    write("optim.safetensors", paths)
