#!/usr/bin/env python3
"""Writes layers of PyTorch and small GPT-2s in the names of their own files, and what they compute.

    apt-get install python3-torch && python3 tests/golden/make_interchange.py

    interchange.safetensors   CASE/state/NAME: the state_dict(), F32
                              CASE/input/NAME, CASE/output/NAME, CASE/upstream/NAME of each output
                              CASE/gradient/NAME: of each parameter, by the same name
                              CASE/input_gradient/NAME
                              Masks have PyTorch's polarity: true is not seen.
    gpt2_f32.safetensors, gpt2_f16.safetensors, gpt2_bf16.safetensors
                              Checkpoints as Hugging Face writes them, weights at random, two heads.
                              CASE gpt2_f32 ... holds ids, targets, logits, loss, and the gradients of
                              the loss, in float64 from the rounded weights.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from golden_file import case, real, stored, truth, whole, write

E, HEADS, FF = 4, 2, 6


def future(t):
    return torch.ones(t, t).triu(1).bool()


PADDING = torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]).bool()


def attention():
    def both(m, q, k, v, **masks):
        y, weights = m(q, k, v, average_attn_weights=False, **masks)
        alone, none = m(q, k, v, need_weights=False, **masks)
        assert none is None and torch.allclose(y, alone, 0, 1e-14)
        return dict(y=y, weights=weights)

    def make(**options):
        return nn.MultiheadAttention(E, HEADS, batch_first=True, **options)

    def inputs(kdim=E, vdim=E):
        return dict(q=real(2, 3, E), k=real(2, 5, kdim), v=real(2, 5, vdim))

    seen = truth(3, 5)
    seen[:, 0] = True  # a query that sees nothing gets NaN from PyTorch
    case("attention", make(), inputs(), both)
    case("attention_widths", make(kdim=3, vdim=5), inputs(3, 5), both)
    case("attention_no_bias", make(bias=False), inputs(), both)
    case("attention_no_bias_keys", make(bias=False, kdim=3), inputs(3), both)
    case("attention_values", make(vdim=5), inputs(vdim=5), both)
    case("attention_masked", make(), dict(inputs(), key_padding_mask=PADDING, attn_mask=~seen), both)
    case("attention_added", make(), dict(inputs(), attn_mask=real(3, 5)), both)


def transformers():
    options = dict(d_model=E, nhead=HEADS, dim_feedforward=FF, batch_first=True)
    pre = dict(options, activation="gelu", norm_first=True)
    encode = lambda m, x, **masks: m(x, **masks)
    padded = dict(x=real(2, 5, E), src_key_padding_mask=PADDING, src_mask=future(5))
    causal = lambda m, x, memory, **masks: m(x, memory, tgt_mask=future(x.size(1)), **masks)
    decoded = lambda **masks: dict(x=real(2, 4, E), memory=real(2, 5, E), **masks)
    padding = dict(tgt_key_padding_mask=PADDING[:, 1:].clone(), memory_key_padding_mask=PADDING.clone())

    encoder, decoder = nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
    case("encoder_layer", encoder(**options), dict(x=real(2, 5, E)), encode)
    case("encoder_layer_pre_norm", encoder(**pre), dict(x=real(2, 5, E)), encode)
    case("encoder_layer_masked", encoder(**options), padded, encode)
    case("decoder_layer", decoder(**options), decoded(), causal)
    case("decoder_layer_pre_norm", decoder(**pre), decoded(), causal)
    case("decoder_layer_masked", decoder(**options), decoded(**padding), causal)
    stack = dict(num_layers=2, norm=nn.LayerNorm(E))
    case("encoder", nn.TransformerEncoder(encoder(**pre), **stack), dict(x=real(2, 5, E)), encode)
    case("decoder", nn.TransformerDecoder(decoder(**pre), **stack), decoded(), causal)


def parts():
    one = lambda m, x: m(x)
    case("linear", nn.Linear(4, 3), dict(x=real(2, 5, 4)), one)
    case("linear_no_bias", nn.Linear(4, 3, bias=False), dict(x=real(2, 5, 4)), one)
    case("norm", nn.LayerNorm(5, eps=1e-3), dict(x=real(2, 3, 5)), one)
    case("embedding", nn.Embedding(6, 3, padding_idx=2), dict(x=whole(2, 7, high=6)), one)


# ------------------------------------------------------------------ GPT-2


def gpt2_state(vocab=11, context=7, width=8, inner=32, layers=2):
    state = {"wte.weight": real(vocab, width, low=-0.6, high=0.6),
             "wpe.weight": real(context, width, low=-0.6, high=0.6)}

    def norm(name):
        state[f"{name}.weight"] = 1 + real(width, low=-0.6, high=0.6)
        state[f"{name}.bias"] = real(width, low=-0.6, high=0.6)

    def conv1d(name, n_in, n_out):
        state[f"{name}.weight"] = real(n_in, n_out, low=-0.6, high=0.6)
        state[f"{name}.bias"] = real(n_out, low=-0.6, high=0.6)

    for i in range(layers):
        norm(f"h.{i}.ln_1")
        conv1d(f"h.{i}.attn.c_attn", width, 3 * width)
        conv1d(f"h.{i}.attn.c_proj", width, width)
        norm(f"h.{i}.ln_2")
        conv1d(f"h.{i}.mlp.c_fc", width, inner)
        conv1d(f"h.{i}.mlp.c_proj", inner, width)
    norm("ln_f")
    return state


def gpt2_logits(state, ids):
    """transformers.GPT2LMHeadModel, written out."""
    layers = sum(name.endswith("ln_1.bias") for name in state)
    b, t = ids.shape

    def norm(name, x):
        return F.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"], 1e-5)

    def conv1d(name, x):
        return x @ state[f"{name}.weight"] + state[f"{name}.bias"]

    def gelu_new(x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    h = state["wte.weight"][ids] + state["wpe.weight"][torch.arange(t)]
    for i in range(layers):
        q, k, v = (x.view(b, t, HEADS, -1).permute(0, 2, 1, 3)
                   for x in conv1d(f"h.{i}.attn.c_attn", norm(f"h.{i}.ln_1", h)).split(h.size(-1), 2))
        scores = q @ k.transpose(-1, -2) / math.sqrt(v.size(-1))
        weights = torch.softmax(torch.where(~future(t), scores, torch.finfo(scores.dtype).min), -1)
        h = h + conv1d(f"h.{i}.attn.c_proj", (weights @ v).permute(0, 2, 1, 3).reshape(b, t, -1))
        h = h + conv1d(f"h.{i}.mlp.c_proj", gelu_new(conv1d(f"h.{i}.mlp.c_fc", norm(f"h.{i}.ln_2", h))))
    return norm("ln_f", h) @ state["wte.weight"].T


def gpt2(name, dtype, published=lambda state: state, **sizes):
    state = {key: x.to(dtype) for key, x in gpt2_state(**sizes).items()}
    write(f"{name}.safetensors", published(state), {"format": "pt"})
    vocab, context = (len(state[f"{key}.weight"]) for key in ("wte", "wpe"))
    ids, targets = whole(2, context - 1, high=vocab), whole(2, context - 1, high=vocab)
    wide = {key: x.double().requires_grad_() for key, x in state.items()}
    logits = gpt2_logits(wide, ids)
    loss = F.cross_entropy(logits.reshape(-1, vocab), targets.reshape(-1))
    stored.update({f"{name}/input/ids": ids, f"{name}/input/targets": targets,
                   f"{name}/output/logits": logits.detach(), f"{name}/output/loss": loss.detach()})
    for key, g in zip(wide, torch.autograd.grad(loss, list(wide.values()))):
        stored[f"{name}/gradient/{key}"] = g


def masks(state, prefix, dtype):
    """The buffers of older files: what each attention may see."""
    context = len(state["wpe.weight"])
    seen = (~future(context)).to(dtype)[None, None]
    return {f"{prefix}h.{i}.attn.bias": seen.clone() for i in range(2)}


def with_masks(state):
    return state | masks(state, "", torch.float32)


def with_head(state):
    """Of the model with a head: a prefix, buffers, and the table a second time."""
    named = {f"transformer.{key}": x for key, x in state.items()}
    named |= masks(state, "transformer.", torch.uint8)
    for i in range(2):
        named[f"transformer.h.{i}.attn.masked_bias"] = torch.tensor(-1e4, dtype=torch.float16)
    return named | {"lm_head.weight": state["wte.weight"].clone()}


if __name__ == "__main__":
    transformers()
    attention()
    parts()
    gpt2("gpt2_f32", torch.float32, with_masks)
    gpt2("gpt2_f16", torch.float16, with_head)
    gpt2("gpt2_bf16", torch.bfloat16, layers=1, inner=12)
    write("interchange.safetensors", stored)
