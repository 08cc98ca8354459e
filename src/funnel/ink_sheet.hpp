// InkSheet: a picture while it is being drawn.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace doorbuster {

// How much ink lies on each pixel, 0 to 1.
class InkSheet {
public:
    static constexpr size_t width = 240, height = 80;

    InkSheet() : ink_(width * height, 0.0F) {}

    float at(int x, int y) const { return is_inside(x, y) ? ink_[index(x, y)] : 0.0F; }
    void set(int x, int y, float ink) {
        if (is_inside(x, y)) ink_[index(x, y)] = ink;
    }
    // Between the pixels, so that bent lines stay smooth.
    float between(double x, double y) const {
        const int left = static_cast<int>(std::floor(x)), top = static_cast<int>(std::floor(y));
        const auto right_share = static_cast<float>(x - left), low_share = static_cast<float>(y - top);
        const float upper = at(left, top) * (1 - right_share) + at(left + 1, top) * right_share;
        const float lower = at(left, top + 1) * (1 - right_share) + at(left + 1, top + 1) * right_share;
        return upper * (1 - low_share) + lower * low_share;
    }

private:
    static bool is_inside(int x, int y) {
        return x >= 0 && y >= 0 && x < static_cast<int>(width) && y < static_cast<int>(height);
    }
    static size_t index(int x, int y) { return static_cast<size_t>(y) * width + static_cast<size_t>(x); }

    std::vector<float> ink_;
};

}  // namespace doorbuster
