// Multiplies matrices of doubles: floating-point arithmetic and strided loads. Prints a checksum.
#include <cstdio>
#include <vector>

namespace {

constexpr int size = 192;
constexpr int rounds = 12;

using Matrix = std::vector<double>;

Matrix multiply(const Matrix& left, const Matrix& right) {
    Matrix product(size * size);
    for (int row = 0; row < size; ++row) {
        for (int inner = 0; inner < size; ++inner) {
            const double factor = left[row * size + inner];
            for (int column = 0; column < size; ++column) {
                product[row * size + column] += factor * right[inner * size + column];
            }
        }
    }
    return product;
}

}  // namespace

int main() {
    Matrix left(size * size);
    Matrix right(size * size);
    for (int i = 0; i < size * size; ++i) {
        left[i] = (i % 7) * 0.25 - 0.5;
        right[i] = (i % 5) * 0.125 - 0.25;
    }
    for (int round = 0; round < rounds; ++round) {
        left = multiply(left, right);
        for (double& element : left) element *= 0.125;
    }
    double sum = 0;
    for (double element : left) sum += element;
    std::printf("%.17g\n", sum);
    return 0;
}
