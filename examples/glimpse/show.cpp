#include "examples/glimpse/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "fovea/io/file.h"
#include "fovea/io/png.h"
#include "fovea/ops/ops.h"
#include "fovea/viz/curve.h"
#include "fovea/viz/glimpse.h"

namespace fovea::glimpse {
namespace {

// The middle of what the retina saw, in pixels: locations are rounded to whole pixels.
double middle(double location, int64_t size, int64_t patch) {
  return static_cast<double>(first_pixel(location, size, patch)) + static_cast<double>(patch) / 2;
}

std::vector<std::string> class_names(const std::string& data) {
  if (std::filesystem::path(data).string().find("fashion") == std::string::npos) return {};
  return {"T-shirt", "trousers", "pullover", "dress", "coat",
          "sandal",  "shirt",    "sneaker",  "bag",   "boot"};
}

}  // namespace

void draw_paths(const std::string& path, const RecurrentAttention& model, const Images& images,
                int64_t n, const Config& c) {
  const NoGrad scope;
  const Batch batch = images.range(0, n);
  Generator g = generator_for(c.seed, Purpose::picture);
  const Episode e = model.look(batch.images, g);
  const Tensor predicted = argmax(e.log_probs, -1);

  GlimpseGrid grid;
  grid.height = images.height();
  grid.width = images.width();
  grid.patch = static_cast<double>(c.patch);
  grid.scales = c.scales;
  grid.zoom = std::max<int64_t>(224 / images.width(), 1);
  grid.class_names = class_names(c.data);
  for (int64_t i = 0; i < batch.labels.numel(); ++i) {
    GlimpsePath p;
    p.pixels = batch.images[i].to_vector<float>();
    for (const Tensor& at : e.locations) {
      p.centres.push_back({middle(at.at({i, 0}), images.width(), c.patch),
                           middle(at.at({i, 1}), images.height(), c.patch)});
    }
    p.label = batch.labels[i].item<int64_t>();
    p.predicted = predicted[i].item<int64_t>();
    grid.paths.push_back(std::move(p));
  }
  const Image picture = draw_glimpses(grid);
  write_png(path, picture.rgb.data(), picture.width, picture.height, 3);
}

void draw_history(const std::string& path, const History& history, const Config& c) {
  std::vector<double> epochs(history.loss.size()), train_error, valid_error;
  std::iota(epochs.begin(), epochs.end(), 1);
  for (const double a : history.train_accuracy) train_error.push_back(100 * (1 - a));
  for (const double e : history.valid_error) valid_error.push_back(100 * e);
  const Panel loss{"cross-entropy", "epoch", "nats", {{"training", epochs, history.loss}}};
  const Panel error{"error",
                    "epoch",
                    "percent",
                    {{"training", epochs, train_error}, {"validation", epochs, valid_error}}};
  write_file_atomically(
      path, draw_curves({loss, error},
                        {.title = "Recurrent attention model",
                         .subtitle = fmt::format("{} glimpses of {} x {}, {} scale{}, {} images",
                                                 c.glimpses, c.patch, c.patch, c.scales,
                                                 c.scales == 1 ? "" : "s", c.dataset)}));
}

}  // namespace fovea::glimpse
