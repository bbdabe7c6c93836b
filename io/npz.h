// .npz: named tensors in one file, as NumPy saves them: a zip archive of .npy files (io/npy.h),
// NAME.npy each.
//
// Sources: https://numpy.org/doc/stable/reference/generated/numpy.savez.html;
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3 to 4.5.
#pragma once

#include <string>
#include <vector>

#include "fovea/io/safetensors.h"

namespace fovea {

/// Writes atomically (io/file.h), in the order given, what numpy.load reads; any strides, f32, f64,
/// i64 and bool; with `compress` deflated, as numpy.savez_compressed does. ValueError on a name
/// that occurs twice, holds a zero byte, is not UTF-8 or is longer than 65,531 bytes, on an
/// undefined tensor, and on metadata, which the format does not hold; IoError when the file cannot
/// be written.
void write_npz(const std::string& path, const TensorMap& map, bool compress = false);

/// Reads the arrays of such a file in the order of its directory, stored and deflated members
/// alike, with ZIP64 sizes and data descriptors; names lose their ".npy", and dtypes become what
/// read_npy makes of them. The file is trusted in nothing: IoError names the file, the member, what
/// was expected and what was found, on a missing or damaged directory, names that occur twice,
/// members that are encrypted, packed by another method, out of range or overlap, wrong sizes or
/// CRC-32, more bytes than deflate can make of what is there, and on what read_npy refuses.
///
/// Members that are no arrays, folders and text for example, are passed over: those that neither
/// are called NAME.npy nor begin as a .npy file does. An archive with nothing else is refused. With
/// `refused`, an array that cannot be read (Python objects, a wrong CRC-32) does not keep the
/// others from being read: what is wrong with it is appended there.
TensorMap read_npz(const std::string& path, std::vector<std::string>* refused = nullptr);

}  // namespace fovea
