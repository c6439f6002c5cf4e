// C++: exceptions through many frames and destructors, virtual calls, templates, lambdas.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define ALONE __attribute__((noipa))

static volatile unsigned destroyed;

struct Guard {
    ALONE ~Guard() { destroyed = destroyed + 1; }
};

struct Shape {
    virtual ~Shape() = default;
    virtual int area(int depth) const = 0;
};

struct Square : Shape {
    ALONE int area(int depth) const override {
        Guard guard;
        if (depth == 0)
            throw std::runtime_error("too deep");
        return depth * depth;
    }
};

struct Frame : Shape {
    std::unique_ptr<Shape> inside;
    explicit Frame(std::unique_ptr<Shape> shape) : inside(std::move(shape)) {}
    ALONE int area(int depth) const override {
        Guard guard;
        return inside->area(depth - 1) + 1;
    }
};

template <typename Number>
ALONE Number twice(Number number) {
    return number + number;
}

ALONE int attempt(const Shape &shape, int depth) {
    try {
        return shape.area(depth);
    } catch (const std::runtime_error &) {
        return twice(depth);
    }
}

ALONE int rethrow(const Shape &shape, int depth) {
    try {
        try {
            return attempt(shape, depth) + shape.area(depth);
        } catch (const std::logic_error &) {
            return 1;
        } catch (...) {
            Guard guard;
            throw;
        }
    } catch (const std::exception &caught) {
        return static_cast<int>(std::string(caught.what()).size());
    }
}

int main() {
    std::unique_ptr<Shape> shape = std::make_unique<Square>();
    for (int level = 0; level < 6; level++)
        shape = std::make_unique<Frame>(std::move(shape));
    std::map<int, int> sums;
    for (int depth = 0; depth < 40; depth++)
        sums[depth % 5] += rethrow(*shape, depth % 12);
    std::vector<int> order;
    for (const auto &[key, sum] : sums)
        order.push_back(twice(sum) + key);
    std::sort(order.begin(), order.end(), [](int one, int other) { return one > other; });
    std::printf("%d %.1f %u\n", order[0], twice(1.5), destroyed);
    return 0;
}
