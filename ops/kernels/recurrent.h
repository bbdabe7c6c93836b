// One step of a recurrent layer for some sequences: gates forward and backward. f32 and f64.
// Serial: the caller cuts the batch into slices and multiplies by the weights.
//
// Matrices of a slice have one row a sequence, `..._row` elements apart where that is not the width
// of the matrix. H = hidden. The planes of a step, H numbers each, are what its gates are made of
// and later the activated gates themselves: h in rnn; i, f, g, o in lstm; in gru r, z, n, and the
// part of n that comes from the state, which the reset gate multiplies. A sequence with
// lengths[row] <= t keeps its state, whatever the planes hold.
#pragma once

#include <cstdint>

namespace fovea::kernels {

template <class T>
struct RecurrentForward {
  int64_t rows, hidden, t;
  const int64_t* lengths;  // (rows) or null
  const T* bias;           // (planes H), of input and state together
  const T* product;        // (rows, gates H): W_hh h
  T* planes;               // W_ih x before, the planes after
  int64_t planes_row;
  T *h, *c;  // (rows, H): the state before, then after; c in lstm only
  T *y, *y_c;
  int64_t y_row;  // of the result, where the state is stored as well
};

template <class T>
struct RecurrentBackward {
  int64_t rows, hidden, t;
  const int64_t* lengths;
  const T* planes;
  int64_t planes_row;
  const T *after, *before;  // rnn: h_t, -;  lstm: c_t, c_{t-1};  gru: -, h_{t-1}
  int64_t after_row, before_row;
  const T *gy, *gy_c;
  int64_t gy_row;
  T *gh, *gc;   // (rows, H): the gradient of the state after the step without gy; then that of the
                // state before, but for what goes through W_hh
  T* gplanes;   // planes_row apart: the gradient of the planes before activation
  T* gproduct;  // (rows, gates H): that of `product`
};

// h = tanh(a), or relu(a).
void rnn_forward(const RecurrentForward<float>& p);
void rnn_forward(const RecurrentForward<double>& p);
void rnn_backward(const RecurrentBackward<float>& p);
void rnn_backward(const RecurrentBackward<double>& p);
void rnn_relu_forward(const RecurrentForward<float>& p);
void rnn_relu_forward(const RecurrentForward<double>& p);
void rnn_relu_backward(const RecurrentBackward<float>& p);
void rnn_relu_backward(const RecurrentBackward<double>& p);
// c = f c + i g,  h = o tanh(c)
void lstm_forward(const RecurrentForward<float>& p);
void lstm_forward(const RecurrentForward<double>& p);
void lstm_backward(const RecurrentBackward<float>& p);
void lstm_backward(const RecurrentBackward<double>& p);
// h = n + z (h - n)
void gru_forward(const RecurrentForward<float>& p);
void gru_forward(const RecurrentForward<double>& p);
void gru_backward(const RecurrentBackward<float>& p);
void gru_backward(const RecurrentBackward<double>& p);

}  // namespace fovea::kernels
