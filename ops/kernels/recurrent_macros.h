// Writes the entry points of a recurrent step. Its file has templates Forward(p) and Backward(p),
// or Forward(p, activation) and Backward(p, activation).
#pragma once

// Inside HWY_NAMESPACE, for each instruction set: name_forward_f32 and its three relatives.
#define FOVEA_RECURRENT_BODY(name, ...)                          \
  void name##_forward_f32(const RecurrentForward<float>& p) {    \
    Forward(p __VA_OPT__(, ) __VA_ARGS__);                       \
  }                                                              \
  void name##_forward_f64(const RecurrentForward<double>& p) {   \
    Forward(p __VA_OPT__(, ) __VA_ARGS__);                       \
  }                                                              \
  void name##_backward_f32(const RecurrentBackward<float>& p) {  \
    Backward(p __VA_OPT__(, ) __VA_ARGS__);                      \
  }                                                              \
  void name##_backward_f64(const RecurrentBackward<double>& p) { \
    Backward(p __VA_OPT__(, ) __VA_ARGS__);                      \
  }

// Once, outside: the public overloads, which pick the instruction set at run time.
#define FOVEA_RECURRENT_EXPORT(name)                         \
  HWY_EXPORT(name##_forward_f32);                            \
  HWY_EXPORT(name##_forward_f64);                            \
  HWY_EXPORT(name##_backward_f32);                           \
  HWY_EXPORT(name##_backward_f64);                           \
  void name##_forward(const RecurrentForward<float>& p) {    \
    HWY_DYNAMIC_DISPATCH(name##_forward_f32)(p);             \
  }                                                          \
  void name##_forward(const RecurrentForward<double>& p) {   \
    HWY_DYNAMIC_DISPATCH(name##_forward_f64)(p);             \
  }                                                          \
  void name##_backward(const RecurrentBackward<float>& p) {  \
    HWY_DYNAMIC_DISPATCH(name##_backward_f32)(p);            \
  }                                                          \
  void name##_backward(const RecurrentBackward<double>& p) { \
    HWY_DYNAMIC_DISPATCH(name##_backward_f64)(p);            \
  }
