// Loops inside loops with the real kernels: heads outside, the tiles of products and rows inside,
// scratch of each task its own, one caller and several. The bits are those of the serial run, and
// it ends.
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "fovea/core/allocator.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/kernels/gemm.h"
#include "fovea/ops/kernels/rows.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::ThreadScope;

// Runs f on a thread of its own. What does not end cannot be stopped: the process is.
template <class F>
auto within_a_minute(const F& f) {
  std::packaged_task<decltype(f())()> task(f);
  auto result = task.get_future();
  std::thread runner(std::move(task));
  if (result.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
    fprintf(stderr, "nested loops: no end after a minute\n");
    std::abort();
  }
  runner.join();
  return result.get();
}

template <class T>
void product(bool transposed, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  const auto tiling = kernels::gemm_tiling(m, n, k);
  parallel_chunks(tiling.tiles(), [&](int64_t i) {
    kernels::gemm_tile(tiling, i, false, transposed, k, T(1), a, k, b, transposed ? k : n, T(0), c,
                       n);
  });
}

// y = softmax(q q') q of each head, every product and every row a loop inside the loop over heads.
template <class T>
std::vector<T> attend(const Tensor& q) {
  const int64_t heads = q.size(0), n = q.size(1), d = q.size(2);
  std::vector<T> y(static_cast<size_t>(q.numel()));
  parallel_chunks(heads, [&](int64_t h) {
    const T* mine = q.data<T>() + h * n * d;
    Scratch<T> scores(n * n), weights(n * n);
    product(true, n, n, d, mine, mine, scores.data());
    parallel_for(n, 8, [&](int64_t b, int64_t e) {
      Scratch<T> row(n);
      for (int64_t i = b; i < e; ++i) {
        kernels::softmax_rows(scores.data() + i * n, row.data(), 1, n);
        std::copy(row.data(), row.data() + n, weights.data() + i * n);
      }
    });
    product(false, n, d, n, weights.data(), mine, y.data() + h * n * d);
  });
  return y;
}

// Whole operations, which loop by themselves.
std::vector<float> operation(const Tensor& q) {
  const Tensor x = clone(q).requires_grad_();
  const Tensor y = scaled_dot_product_attention(x, x, x);
  auto all = y.to_vector<float>();
  for (float v : grad(sum(square(y)), {x})[0].to_vector<float>()) all.push_back(v);
  return all;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void check_nested(DType t) {
  const ThreadScope restore;
  for (int64_t heads : {1, 4, 64}) {
    const Tensor q = randn({heads, 128, 72}, t) * .3;  // a product of more than one tile
    ASSERT_GT(kernels::gemm_tiling(128, 128, 72).tiles(), 1);
    set_threads(1);
    const auto start = std::chrono::steady_clock::now();
    const auto serial = attend<T>(q);
    const auto once = std::chrono::steady_clock::now() - start;
    for (int n : {1, 2, 8}) {
      set_threads(n);
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_TRUE(same_bits(within_a_minute([&] { return attend<T>(q); }), serial))
          << heads << " heads on " << n << " threads";
      const auto took = std::chrono::steady_clock::now() - begin;
      EXPECT_LE(took, 50 * once + std::chrono::seconds(2)) << "time explodes";
    }
  }
}

TEST(Cases, NestedKernelsEqualTheSerialRun) {
  check_nested<float>(f32);
  check_nested<double>(f64);
}

TEST(Cases, NestedKernelsFromSeveralThreadsAtOnce) {
  const ThreadScope restore;
  const Tensor q = randn({4, 128, 72}) * .3;
  set_threads(1);
  const auto kernels = attend<float>(q);
  const auto whole = operation(q);
  for (int n : {1, 2, 8}) {
    set_threads(n);
    const int wrong = within_a_minute([&] {
      std::vector<std::future<int>> callers;
      for (int caller = 0; caller < 4; ++caller) {
        callers.push_back(std::async(std::launch::async, [&] {
          int differing = 0;
          for (int i = 0; i < 5; ++i) {
            differing += !same_bits(attend<float>(q), kernels);
            differing += !same_bits(operation(q), whole);
          }
          return differing;
        }));
      }
      int total = 0;
      for (auto& c : callers) total += c.get();
      return total;
    });
    EXPECT_EQ(wrong, 0) << n << " threads";
  }
}

}  // namespace
}  // namespace fovea
