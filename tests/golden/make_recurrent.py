#!/usr/bin/env python3
"""Writes recurrent layers and cells of PyTorch, and what they compute.

    apt-get install python3-torch && python3 tests/golden/make_recurrent.py

recurrent.safetensors has the form of interchange.safetensors (make_interchange.py): outputs y, h
and c with their upstreams, gradients of all parameters, of x and of the initial states h0 and c0.
"""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from golden_file import case, real, stored, write

I, H, B, T = 3, 2, 3, 5
LENGTHS = torch.tensor([3, 0, 2])  # no sequence fills T
KINDS = dict(rnn=nn.RNN, rnn_relu=nn.RNN, lstm=nn.LSTM, gru=nn.GRU)
CELLS = dict(rnn=nn.RNNCell, rnn_relu=nn.RNNCell, lstm=nn.LSTMCell, gru=nn.GRUCell)


def initial(h0, c0):
    return h0 if c0 is None else None if h0 is None else (h0, c0)


def named(state):
    return dict(zip("hc", state)) if isinstance(state, tuple) else dict(h=state)


def whole(m, x, h0=None, c0=None):
    y, state = m(x, initial(h0, c0))
    return dict(named(state), y=y)


def padded(m, x, h0, lengths, c0=None):
    """Packed sequences may not be empty: those of some length are run, the state of others stays."""
    some = lengths.nonzero().squeeze(1)
    packed = pack_padded_sequence(x[some], lengths[some], batch_first=True)
    part, state = m(packed, initial(h0[:, some], None if c0 is None else c0[:, some]))
    part, _ = pad_packed_sequence(part, batch_first=True, total_length=x.size(1))
    y = torch.zeros(*x.shape[:2], part.size(2)).index_copy(0, some, part)
    first = dict(h=h0, c=c0)
    return dict({k: first[k].index_copy(1, some, s) for k, s in named(state).items()}, y=y)


def step(m, x, h0=None, c0=None):
    return named(m(x, initial(h0, c0)))


def states(kind, *shape):
    return {k: real(*shape, H, low=-1, high=1) for k in (("h0", "c0") if kind == "lstm" else ("h0",))}


if __name__ == "__main__":
    for kind in KINDS:
        options = dict(nonlinearity="relu") if kind == "rnn_relu" else {}

        def layer(**more):
            return KINDS[kind](I, H, batch_first=True, **options, **more)

        def x():
            return real(B, T, I)

        both = dict(num_layers=2, bidirectional=True)
        case(kind, KINDS[kind](I, H, **options), dict(x=real(T, B, I)), whole)
        case(f"{kind}_state", layer(), dict(x=x(), **states(kind, 1, B)), whole)
        case(f"{kind}_no_bias", layer(bias=False), dict(x=x(), **states(kind, 1, B)), whole)
        case(f"{kind}_deep", layer(**both), dict(x=x(), **states(kind, 4, B)), whole)
        case(f"{kind}_lengths", layer(**both), dict(x=x(), **states(kind, 4, B), lengths=LENGTHS), padded)
        case(f"{kind}_cell", CELLS[kind](I, H, **options), dict(x=real(B, I), **states(kind, B)), step)
        case(f"{kind}_cell_zeros", CELLS[kind](I, H, bias=False, **options), dict(x=real(B, I)), step)
    write("recurrent.safetensors", stored)
