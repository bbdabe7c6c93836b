#!/usr/bin/env python3
"""Writes what PyTorch computes for scores and for the attention layers that tutorials write.

    apt-get install python3-torch && python3 tests/golden/make_attention_golden.py

The modules below are those of the tutorials, with their own softmax and einsum; attention.safetensors
has the form of rows.safetensors (make_golden.py). Parameters are inputs, in the order in which the
layers here name them; results of two parts stand side by side on the last axis.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.stateless import functional_call

from golden_file import fixed, real, row, tensors, write


class SoftAttention(nn.Module):
    def __init__(self, query_dim, key_dim, value_dim):
        super().__init__()
        self.attn = nn.Linear(query_dim + key_dim, key_dim)
        self.v = nn.Parameter(torch.rand(key_dim))

    def forward(self, query, keys, values):
        query = query.unsqueeze(1).repeat(1, keys.size(1), 1)
        energy = torch.tanh(self.attn(torch.cat((query, keys), dim=2)))
        v = self.v.repeat(keys.size(0), 1).unsqueeze(1)
        weights = F.softmax(torch.bmm(v, energy.transpose(1, 2)).squeeze(1), dim=1)
        return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights


class AdditiveAttention(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.W_q = nn.Linear(query_dim, hidden_dim, bias=False)
        self.W_k = nn.Linear(key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, keys):
        features = torch.tanh(self.W_q(query).unsqueeze(1) + self.W_k(keys))
        return self.v(features).squeeze(-1)


class DotProductAttention(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(self.dropout(weights), v), weights


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads, scale="head", project=True):
        super().__init__()
        self.heads, self.head_dim = heads, embed_size // heads
        self.scale = math.sqrt(self.head_dim if scale == "head" else embed_size)
        self.project = project
        self.values = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.keys = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.queries = nn.Linear(self.head_dim, self.head_dim, bias=False)
        self.fc_out = nn.Linear(heads * self.head_dim, embed_size)

    def forward(self, values, keys, query, mask=None):
        n = query.shape[0]
        split = lambda x: x.reshape(n, x.shape[1], self.heads, self.head_dim)
        values, keys, queries = split(values), split(keys), split(query)
        if self.project:
            values, keys, queries = self.values(values), self.keys(keys), self.queries(queries)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy = energy.masked_fill(mask == 0, float("-1e20"))
        attention = torch.softmax(energy / self.scale, dim=3)
        out = torch.einsum("nhqk,nkhd->nqhd", [attention, values])
        return self.fc_out(out.reshape(n, query.shape[1], self.heads * self.head_dim))


def layer_row(name, layer, names, *inputs, call=lambda *x: x):
    """The row of a module: its parameters of these names follow the inputs; call() says how those
    are handed to it."""
    layer.eval()
    shapes = dict(layer.named_parameters())
    assert sorted(names) == sorted(shapes), sorted(shapes)
    count = len(inputs)

    def f(*x):
        y = functional_call(layer, dict(zip(names, x[count:])), call(*x[:count]))
        return y if isinstance(y, torch.Tensor) else torch.cat(y, dim=-1)

    row(name, f, *inputs, *[real(*shapes[n].shape, low=-1, high=1) for n in names])


def attention():
    padding = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()
    layer_row("SoftAttention", SoftAttention(3, 4, 2), ["attn.weight", "attn.bias", "v"],
              real(2, 3), real(2, 5, 4), real(2, 5, 2))
    layer_row("AdditiveAttention", AdditiveAttention(3, 2, 4), ["W_q.weight", "W_k.weight", "v.weight"],
              real(2, 3), real(2, 5, 2))
    layer_row("DotProductAttention", DotProductAttention(), [], real(2, 3, 4), real(2, 5, 4), real(2, 5, 2))
    layer_row("DotProductAttention.padded", DotProductAttention(), [],
              real(2, 3, 4), real(2, 5, 4), real(2, 5, 2), padding,
              call=lambda q, k, v, mask: (q, k, v, mask[:, None, :]))
    names = ["values.weight", "keys.weight", "queries.weight", "fc_out.weight", "fc_out.bias"]
    for label, options in [("", {}), (".scale_embed", dict(scale="embed")), (".not_projected", dict(project=False))]:
        layer_row(f"SelfAttention{label}", SelfAttention(4, 2, **options), names,
                  real(2, 5, 4), real(2, 5, 4), real(2, 3, 4))
    layer_row("SelfAttention.padded", SelfAttention(4, 2), names,
              real(2, 5, 4), real(2, 5, 4), real(2, 3, 4), padding,
              call=lambda v, k, q, mask: (v, k, q, mask[:, None, None, :]))


# ------------------------------------------------------------------ scores


def additive(q, k, v):
    return torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3)) @ v


def concat(q, k, weight, bias, v):
    pairs = torch.cat((q.unsqueeze(2).expand(-1, -1, k.size(1), -1), k.unsqueeze(1).expand(-1, q.size(1), -1, -1)), -1)
    return torch.tanh(F.linear(pairs, weight, bias)) @ v


def read(scores, values, keep):
    weights = torch.where(keep, torch.softmax(scores.masked_fill(~keep, -math.inf), -1), torch.zeros(()))
    return weights, torch.cat((weights @ values, weights), -1)


def local_p(q, k, values, words, w, v):
    window, j = 2, torch.arange(float(k.size(1)))
    p = words.sum(1)[:, None, None] * torch.sigmoid(torch.tanh(q @ w.T) @ v.T)
    keep = words[:, None, :] & ((j - p).abs() <= window)
    weights, _ = read(q @ k.transpose(1, 2), values, keep)
    weights = weights * torch.exp(-((j - p) ** 2) / (2 * (window / 2) ** 2))
    return torch.cat((weights @ values, weights), -1)


def scores():
    padding = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()
    row("additive_scores", additive, real(2, 3, 5), real(2, 4, 5), real(5))
    row("additive_scores.no_batch", additive, real(3, 4), real(2, 4), real(4))
    q, k = lambda: real(2, 3, 4), lambda: real(2, 5, 4)
    row("DotScore", lambda q, k: q @ k.transpose(1, 2), q(), k())
    row("ScaledDotScore", lambda q, k: q @ k.transpose(1, 2) / 2, q(), k())
    row("CosineScore", lambda q, k, beta: beta * F.cosine_similarity(q.unsqueeze(2), k.unsqueeze(1), -1, 1e-300),
        q(), k(), real())
    row("GeneralScore", lambda q, k, w: torch.einsum("bqi,ij,bkj->bqk", q, w, k), q(), real(2, 5, 3), real(4, 3))
    row("AdditiveScore", lambda q, k, w_q, w_k, v: additive(q @ w_q.T, k @ w_k.T, v),
        real(2, 3, 3), real(2, 5, 2), real(4, 3), real(4, 2), real(4))
    row("ConcatScore", concat, real(2, 3, 3), real(2, 5, 2), real(4, 5), real(4), real(4))
    row("LocationScore", lambda q, k, w: (q @ w.T)[:, :, : k.size(1)], real(2, 3, 3), fixed(real(2, 5, 2)), real(7, 3))
    row("ScoredAttention.padded",
        lambda q, k, x, m, w_q, w_k, v: read(additive(q @ w_q.T, k @ w_k.T, v), x, m[:, None, :])[1],
        real(2, 3, 3), real(2, 5, 2), real(2, 5, 2), padding, real(4, 3), real(4, 2), real(4))
    row("LocalAttention.predicted_padded", local_p, real(2, 3, 3), real(2, 5, 3), real(2, 5, 2), padding,
        real(4, 3), real(1, 4))


if __name__ == "__main__":
    attention()
    scores()
    write("attention.safetensors", tensors)
