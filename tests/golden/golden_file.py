"""What the programs beside it share: random inputs, rows of the case table, safetensors files.

Everything is float64. Inputs hold float32 numbers, so that float32 starts from the same ones.
"""

import json
import math
import os
import struct

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
generator = torch.Generator().manual_seed(20240607)
tensors = {}


# ------------------------------------------------------------------ inputs


def real(*shape, low=-2.0, high=2.0, away=(), ties=True):
    """Uniform in [low, high), 0.02 away from some points; without ties, in steps of one size."""
    if ties:
        x = low + (high - low) * torch.rand(shape, generator=generator)
        for kink in away:
            x = torch.where((x - kink).abs() < 0.02, kink + torch.where(x < kink, -0.03, 0.03), x)
    else:
        size = math.prod(shape)
        order = torch.randperm(size, generator=generator)
        x = (low + (high - low) * (order + 0.5) / size).reshape(shape)
    return x.float().double()


def known(values):
    return torch.tensor(values).float().double()


def whole(*shape, low=0, high=2):
    return torch.randint(low, high, shape, generator=generator)


def truth(*shape):
    return whole(*shape).bool()


def fixed(x):
    """An input whose gradient the row does not ask for."""
    x.fixed = True
    return x


# ------------------------------------------------------------------ rows


def row(name, f, *inputs):
    assert f"{name}/output" not in tensors, name
    leaves = []
    for i, x in enumerate(inputs):
        tensors[f"{name}/input.{i}"] = x.clone()
        if x.is_floating_point() and not getattr(x, "fixed", False):
            leaves.append((i, x.requires_grad_()))
    y = f(*inputs)
    tensors[f"{name}/output"] = y.detach()
    if not leaves:
        return
    up = real(*y.shape)
    tensors[f"{name}/upstream"] = up
    for (i, x), g in zip(leaves, torch.autograd.grad(y, [x for _, x in leaves], up, allow_unused=True)):
        tensors[f"{name}/gradient.{i}"] = torch.zeros_like(x) if g is None else g


# ------------------------------------------------------------------ layers

stored = {}


def case(name, layer, inputs, call):
    """What call(layer, **inputs) gives, one tensor or a dict of them, with all gradients."""
    layer.eval()
    with torch.no_grad():
        for key, p in layer.named_parameters():
            middle = 1 if "norm" in key and key.endswith("weight") else 0
            p.copy_((middle + real(*p.shape, low=-0.6, high=0.6)).float())
    for key, x in layer.state_dict().items():
        stored[f"{name}/state/{key}"] = x.float()
    leaves = {f"gradient/{key}": p for key, p in layer.named_parameters()}
    for key, x in inputs.items():
        stored[f"{name}/input/{key}"] = x.float() if x.is_floating_point() else x
        if x.is_floating_point():
            leaves[f"input_gradient/{key}"] = x.requires_grad_()
    outputs = call(layer, **inputs)
    if isinstance(outputs, torch.Tensor):
        outputs = dict(y=outputs)
    total = 0
    for key, y in outputs.items():
        up = real(*y.shape)
        stored[f"{name}/output/{key}"], stored[f"{name}/upstream/{key}"] = y.detach(), up.float()
        total = total + (y * up).sum()
    for key, g in zip(leaves, torch.autograd.grad(total, list(leaves.values()))):
        stored[f"{name}/{key}"] = g


# ------------------------------------------------------------------ safetensors

DTYPES = {torch.float64: "F64", torch.int64: "I64", torch.float32: "F32", torch.float16: "F16",
          torch.bfloat16: "BF16", torch.uint8: "U8", torch.bool: "BOOL"}


def write(name, named, metadata=None):
    header, blob = {"__metadata__": metadata} if metadata else {}, b""
    for key, x in sorted(named.items(), key=lambda entry: -entry[1].element_size()):  # aligned
        data = bytes(x.detach().flatten().contiguous().view(torch.uint8).tolist())
        header[key] = dict(dtype=DTYPES[x.dtype], shape=list(x.shape),
                           data_offsets=[len(blob), len(blob) + len(data)])
        blob += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path + ".new", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + blob)
    os.replace(path + ".new", path)
    print(f"{name}: {len(named)} tensors, {8 + len(text) + len(blob)} bytes")
