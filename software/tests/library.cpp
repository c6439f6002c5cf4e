// What programs use of the C and C++ libraries: the output is compared with that on another simulator.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

static void containers() {
  std::mt19937_64 random(1);
  std::vector<std::string> words;
  for (int i = 0; i < 3000; i++) words.push_back(std::to_string(random() % 100000));
  std::sort(words.begin(), words.end());
  std::map<std::string, int> lengths;
  std::unordered_map<std::string, int> counts;
  for (const auto &word : words) lengths[word.substr(0, 2)] += word.size(), counts[word]++;
  std::printf("%s %s %zu %zu\n", words.front().c_str(), words.back().c_str(), lengths.size(), counts.size());
}

static void numbers() {
  for (double x : {0.0, -0.5, 1e-310, 3.25, 1e300, HUGE_VAL, std::nan("")}) {
    std::printf("%.17g %.17g %.17g %.17g %a %ld\n", std::sin(x), std::exp(x), std::sqrt(x), std::cbrt(x), x / 3,
                std::isfinite(x) && std::fabs(x) < 1e18 ? std::lrint(x) : 0);
    std::printf("%.9g %.9g\n", std::log1pf(static_cast<float>(x)), std::fmaf(static_cast<float>(x), 3.f, -1.f));
  }
  long double wide = 1.0L / 3;
  std::printf("%.30Lg %s\n", wide, std::to_string(std::strtod("2.2250738585072011e-308", nullptr)).c_str());
}

static void exceptions() {
  try {
    std::vector<int>().at(3);
  } catch (const std::out_of_range &) {
    std::cout << "out of range" << std::endl;
  }
}

static void memory() {
  std::vector<char *> blocks;
  for (size_t size = 1; size < (8u << 20); size = size * 3 + 1) {
    blocks.push_back(static_cast<char *>(std::malloc(size)));
    std::memset(blocks.back(), static_cast<int>(size), size);
  }
  size_t sum = 0;
  for (char *block : blocks) {
    sum += static_cast<unsigned char>(block[0]);
    block = static_cast<char *>(std::realloc(block, 3u << 20));
    sum += static_cast<unsigned char>(block[0]);
    std::free(block);
  }
  std::cout << sum << '\n';
}

static void files() {
  std::ifstream none("/no/such/file");
  std::ifstream zeros("/dev/null");
  std::stringstream text;
  text << zeros.rdbuf();
  std::cout << none.good() << ' ' << text.str().size() << '\n';
}

int main() {
  containers();
  numbers();
  exceptions();
  memory();
  files();
  return 42;
}
