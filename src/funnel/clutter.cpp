#include "funnel/clutter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace doorbuster {

namespace {

constexpr size_t width = InkSheet::width, height = InkSheet::height;

struct Point {
    double x, y;
};

enum class Pen : uint8_t { ink, paper };

// A Bezier curve, drawn with a round pen.
void draw_curve(InkSheet& sheet, const Point (&points)[4], double pen_radius, Pen pen) {
    // No curve is longer than the way through its points: every step is below a pixel.
    double way = 0;
    for (int i = 0; i < 3; ++i)
        way += std::hypot(points[i + 1].x - points[i].x, points[i + 1].y - points[i].y);
    const int steps = static_cast<int>(way * 1.5) + 1;
    for (int i = 0; i <= steps; ++i) {
        const double t = static_cast<double>(i) / steps, u = 1 - t;
        const double a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
        const double x = a * points[0].x + b * points[1].x + c * points[2].x + d * points[3].x;
        const double y = a * points[0].y + b * points[1].y + c * points[2].y + d * points[3].y;
        const int reach = static_cast<int>(pen_radius) + 2;
        for (int dy = -reach; dy <= reach; ++dy) {
            for (int dx = -reach; dx <= reach; ++dx) {
                const int px = static_cast<int>(std::lround(x)) + dx,
                          py = static_cast<int>(std::lround(y)) + dy;
                const double away = std::hypot(px - x, py - y) - pen_radius;
                const auto share = static_cast<float>(std::clamp(0.5 - away, 0.0, 1.0));
                const float seen = sheet.at(px, py);
                // Towards the pen's colour, never back: the curve meets itself all the time.
                sheet.set(px, py, pen == Pen::ink ? std::max(seen, share) : std::min(seen, 1 - share));
            }
        }
    }
}

void draw_across(InkSheet& sheet, Dice& dice, double pen_radius, Pen pen) {
    const auto anywhere = [&] { return dice.between(14, height - 14); };
    draw_curve(sheet,
               {{dice.between(-4, 14), anywhere()},
                {dice.between(50, 110), dice.between(-20, height + 20)},
                {dice.between(130, 190), dice.between(-20, height + 20)},
                {dice.between(width - 14, width + 4), anywhere()}},
               pen_radius, pen);
}

}  // namespace

void bend(InkSheet& sheet, Dice& dice) {
    struct Wave {
        double height, length, phase;
        double at(double along) const {
            return height * std::sin(2 * std::numbers::pi * (along / length + phase));
        }
    };
    const Wave down{dice.between(2.5, 4.5), dice.between(80, 130), dice.between(0, 1)};
    const Wave ripple{dice.between(0.8, 1.4), dice.between(26, 38), dice.between(0, 1)};
    const Wave across{dice.between(1.5, 3.5), dice.between(40, 70), dice.between(0, 1)};
    std::array<double, width> lowered;
    for (size_t x = 0; x < width; ++x) {
        const auto along = static_cast<double>(x);
        lowered[x] = down.at(along) + ripple.at(along);
    }
    InkSheet bent;
    for (int y = 0; y < static_cast<int>(height); ++y) {
        const double moved = across.at(y);
        for (int x = 0; x < static_cast<int>(width); ++x) {
            bent.set(x, y, sheet.between(x + moved, y + lowered[static_cast<size_t>(x)]));
        }
    }
    sheet = bent;
}

void clutter(InkSheet& sheet, Dice& dice) {
    draw_across(sheet, dice, dice.between(0.5, 0.8), Pen::paper);
    for (int i = 0; i < 3; ++i) draw_across(sheet, dice, dice.between(0.9, 1.4), Pen::ink);
    for (int i = 0; i < 60; ++i) {
        const double x = dice.between(0, width), y = dice.between(0, height);
        const Point end{x + dice.between(-4, 4), y + dice.between(-4, 4)};
        const double pen_radius = dice.between(0.4, 0.9);
        draw_curve(sheet, {{x, y}, {x, y}, end, end}, pen_radius, dice.below(4) == 0 ? Pen::paper : Pen::ink);
    }
}

}  // namespace doorbuster
