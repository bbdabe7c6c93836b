#!/usr/bin/env python3
"""Writes what PyTorch's recurrent cells compute, a step after another, for rnn, lstm and gru.

    apt-get install python3-torch && python3 tests/golden/make_recurrent_rows.py

recurrent_rows.safetensors has the form of rows.safetensors (make_golden.py).
"""

import torch

from golden_file import real, row, tensors, write

B, T, I, H = 3, 4, 2, 3
LENGTHS = torch.tensor([3, 0, 2])


def walk(cell, x, states, weights, lengths=None, reverse=False):
    """The states after each step, (number of states, B, T, H)."""
    every = [None] * x.size(1)
    for t in reversed(range(x.size(1))) if reverse else range(x.size(1)):
        new = cell(x[:, t], states, *weights)
        if lengths is not None:
            new = [torch.where((lengths > t)[:, None], n, s) for n, s in zip(new, states)]
        states = new
        every[t] = torch.stack(states)
    return torch.stack(every, 2)


def plain(step):
    return lambda x, states, *weights: [step(x, states[0], *weights)]


def lstm(x, states, *weights):
    return list(torch.lstm_cell(x, states, *weights))


for name, cell, gates, count in [("rnn", plain(torch.rnn_tanh_cell), 1, 1), ("rnn_relu", plain(torch.rnn_relu_cell), 1, 1),
                                 ("lstm", lstm, 4, 2), ("gru", plain(torch.gru_cell), 3, 1)]:
    for label, steps, biases, padded, reverse in [
        ("", T, 2, False, False), (".reverse", T, 2, False, True), (".reverse_lengths", T, 2, True, True),
        (".lengths", T, 2, True, False), (".no_bias", T, 0, False, False), (".step", 1, 2, False, False),
    ]:

        def f(x, *rest):
            end = count + 2 + biases
            y = walk(cell, x, rest[:count], rest[count:end], *rest[end:], reverse=reverse)
            return y if count > 1 else y[0]

        weights = [real(gates * H, I, low=-1, high=1), real(gates * H, H, low=-1, high=1)]
        row(name + label, f, real(B, steps, I), *[real(B, H) for _ in range(count)], *weights,
            *[real(gates * H, low=-1, high=1) for _ in range(biases)], *([LENGTHS] if padded else []))

write("recurrent_rows.safetensors", tensors)
