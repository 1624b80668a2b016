#include "ftl/blocks/closed_form.h"

#include <algorithm>
#include <cmath>

namespace flashlab {

double lambert_w(double x) {
    double w = -1 + std::sqrt(2 * (1 + std::exp(1.0) * x));
    for (int i = 0; i < 50; ++i) {
        const double e = std::exp(w);
        w -= (w * e - x) / (e * (w + 1));
    }
    return w;
}

double greedy_amplification(double alpha, double pages_per_block) {
    const double a = (1 + 1 / (2 * pages_per_block)) * alpha;
    const double valid = 0.5 - pages_per_block / alpha * lambert_w(-a * std::exp(-a)); // X0: valid pages of a victim
    return pages_per_block / (pages_per_block - std::max(0.0, valid - 1));             // a victim has no fewer than none
}

} // namespace flashlab
