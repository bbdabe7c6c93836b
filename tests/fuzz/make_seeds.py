#!/usr/bin/env python3
"""Writes the valid seeds of the fuzz targets, seeds/NAME/valid*. Needs nothing but Python.

What fuzzing has found lies beside them and is kept by hand.
"""
import gzip
import io
import json
import pathlib
import struct
import zipfile

ROOT = pathlib.Path(__file__).parent / "seeds"


def put(target, name, content):
    folder = ROOT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


WIDTH = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "U8": 1, "BOOL": 1}


def safetensors(tensors, metadata=None):
    """tensors: (name, dtype, shape, bytes or None for zeros)"""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, shape, content in tensors:
        size = WIDTH[dtype]
        for n in shape:
            size *= n
        content = bytes(size) if content is None else content
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + size]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def npy(descr, shape, content, fortran=False, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + b"\n" + content


def npz(members, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


put("safetensors", "valid_types", safetensors(
    [(d.lower(), d, [2], None) for d in WIDTH] + [("empty", "F32", [0, 3], None)], {"k": "v"}))
put("safetensors", "valid_empty", safetensors([]))

put("npy", "valid_f4", npy("<f4", "(2,)", floats(1, 2)))
put("npy", "valid_fortran", npy(">i2", "(2, 3)", bytes(12), fortran=True, version=2))
put("npy", "valid_bool", npy("|b1", "()", b"\1", version=3))

ARRAYS = [("a.npy", npy("<f4", "(2,)", floats(1, 2))), ("note.txt", b"text"),
          ("b.npy", npy("|u1", "(1, 3)", b"abc"))]
put("npz", "valid_stored", npz(ARRAYS, zipfile.ZIP_STORED))
put("npz", "valid_deflated", npz(ARRAYS, zipfile.ZIP_DEFLATED))

LABELS = b"\0\0\x08\1" + struct.pack(">I", 3) + b"\1\2\3"
IMAGES = b"\0\0\x08\3" + struct.pack(">III", 1, 2, 2) + b"\0\x40\x80\xff"
put("idx", "valid_labels", LABELS)
put("idx", "valid_images", IMAGES)
put("idx", "valid_gzipped", gzip.compress(LABELS, mtime=0))

put("gzip", "valid", gzip.compress(b"hello hello hello", mtime=0))
put("gzip", "valid_two", gzip.compress(b"one", mtime=0) + gzip.compress(b"two", mtime=0))
put("gzip", "valid_plain", b"not compressed")

PAIRS = "a b\tA B\tmore\nc\tC\r\n\n\xe4 d\t\u4e2d\n".encode()
put("pairs", "valid_words", b"\0" + PAIRS)
put("pairs", "valid_characters", b"\x3f" + PAIRS)
put("pairs", "valid_gzipped", b"\0" + gzip.compress(PAIRS, mtime=0))

put("lexicon", "valid", b'MNCL\n; comment\n("abandon" nil (((ax) 0) ((b ae n) 1) ((d ax n) 0)))\n'
    b'("a" nil (((ax) 0)))\n("a" nil (((ey) 1)))\n')

put("bpe", "valid", b"fovea bpe 1 3\nl o\nlo w</w>\na a\n")
put("bpe", "valid_empty", b"fovea bpe 1 0\n")
put("vocabulary", "valid", "fovea vocabulary 1 3\nthe\n\\n\\\\\n\xe4\n".encode())


def i64(*values):
    return struct.pack(f"<{len(values)}q", *values)


def f64(*values):
    return struct.pack(f"<{len(values)}d", *values)


def checkpoint(step):
    moments = [(f"optimizer.{p}.{m}", "F32", shape, None) for p, shape in
               (("weight", [1, 2]), ("bias", [1])) for m in ("exp_avg", "exp_avg_sq")]
    return safetensors([
        ("model.weight", "F32", [1, 2], floats(1, -1)),
        ("model.bias", "F32", [1], floats(0.5)),
        ("optimizer.group.0.lr", "F64", [], f64(1e-3)),
        ("optimizer.weight.step", "I64", [], i64(step)),
        ("optimizer.bias.step", "I64", [], i64(step)),
        *(moments if step else []),
        ("schedule.t", "I64", [], i64(step)),
        ("schedule.base_lr", "F64", [1], f64(1e-3)),
        ("plateau.best", "F64", [], f64(float("inf"))),
        ("plateau.bad_epochs", "I64", [], i64(0)),
        ("plateau.cooldown", "I64", [], i64(0)),
        ("generator.default", "I64", [2], i64(1, 2)),
        ("progress.epoch", "I64", [], i64(0)),
        ("progress.step", "I64", [], i64(step)),
        ("progress.position", "I64", [], i64(step)),
    ], {"flags": "{}"})


put("checkpoint", "valid_fresh", checkpoint(0))
put("checkpoint", "valid_trained", checkpoint(2))


def torch_layer(dtype):
    shapes = {"self_attn.in_proj_weight": [6, 2], "self_attn.in_proj_bias": [6],
              "self_attn.out_proj.weight": [2, 2], "self_attn.out_proj.bias": [2],
              "linear1.weight": [3, 2], "linear1.bias": [3],
              "linear2.weight": [2, 3], "linear2.bias": [2],
              "norm1.weight": [2], "norm1.bias": [2], "norm2.weight": [2], "norm2.bias": [2]}
    return safetensors([(n, dtype, s, None) for n, s in shapes.items()], {"format": "pt"})


put("torch_names", "valid_f32", torch_layer("F32"))
put("torch_names", "valid_f16", torch_layer("F16"))


def gpt2(prefix, metadata):
    d, ff = 2, 3
    shapes = {"wte.weight": [3, d], "wpe.weight": [2, d], "ln_f.weight": [d], "ln_f.bias": [d],
              "h.0.attn.bias": [1, 1, 2, 2]}
    for norm in ("ln_1", "ln_2"):
        shapes[f"h.0.{norm}.weight"] = shapes[f"h.0.{norm}.bias"] = [d]
    for name, rows, columns in (("attn.c_attn", d, 3 * d), ("attn.c_proj", d, d),
                                ("mlp.c_fc", d, ff), ("mlp.c_proj", ff, d)):
        shapes[f"h.0.{name}.weight"], shapes[f"h.0.{name}.bias"] = [rows, columns], [columns]
    return safetensors([(prefix + n, "F32", s, None) for n, s in shapes.items()], metadata)


put("gpt2", "valid_heads", gpt2("", {"format": "pt", "n_head": "1"}))
put("gpt2", "valid_prefix", gpt2("transformer.", {"n_head": "2"}))
