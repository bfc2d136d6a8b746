// SPDX-License-Identifier: Apache-2.0
// Distributions of sizes and masses over grains, by number.
//     power: density ~ x^-a on [l, h], drawn by inverting F(x) = (x^(1-a) - l^(1-a)) / (h^(1-a) -
//     l^(1-a)), with logarithms for a = 1
//     lognormal with mean m and deviation s: ln x is normal with variance q = ln(1 + s²/m²) and
//     mean ln m - q/2
#include "scene/scene_impl.h"
#include <math.h>

static talus_status spread_check_values(const tl_doc *doc, const tl_spread *s) {
    double sum = 0.0;
    if (!s->shares.value) return TALUS_OK;
    if (s->shares.count != s->values.count) {
        return tl_node_fail(doc, tl_node_find(s->node, "shares"),
                            "%d shares for %d values: one for each is needed", (int)s->shares.count,
                            (int)s->values.count);
    }
    for (int32_t k = 0; k < s->shares.count; k++) sum += s->shares.value[k];
    if (!(sum > 0.0) || !isfinite(sum)) {
        return tl_node_fail(doc, tl_node_find(s->node, "shares"), "one of them must be > 0");
    }
    return TALUS_OK;
}

// Mean and deviation of ln x.
static void spread_log(const tl_spread *s, double *mean, double *deviation) {
    const double ratio = s->deviation / s->mean, q = log1p(ratio * ratio);
    *mean = log(s->mean) - 0.5 * q;
    *deviation = sqrt(q);
}

static talus_status spread_check_limits(const tl_doc *doc, tl_spread *s) {
    const tl_node *low = tl_node_find(s->node, "low"), *high = tl_node_find(s->node, "high");
    if (s->law == TL_LAW_UNIFORM || s->law == TL_LAW_POWER) {
        if (!low || !high) {
            return tl_node_fail(doc, s->node, "'%s' is missing: law: %s needs low and high",
                                low ? "high" : "low", s->law == TL_LAW_POWER ? "power" : "uniform");
        }
    } else {
        double mean = s->mean, deviation = s->deviation;
        const bool lognormal = s->law == TL_LAW_LOGNORMAL;
        if (lognormal) spread_log(s, &mean, &deviation);
        const double below = mean - 3.0 * deviation, above = mean + 3.0 * deviation;
        if (!low) s->low = lognormal ? exp(below) : below;
        if (!high) s->high = lognormal ? exp(above) : above;
        if (!(s->low > 0.0) || !isfinite(s->high)) {
            return tl_node_fail(doc, s->node,
                                "mean - 3 deviation = %g is not > 0: give 'low' or a smaller "
                                "deviation",
                                s->low);
        }
        if (s->mean < s->low || s->mean > s->high) {
            return tl_node_fail(doc, s->node, "the mean %g must lie between low = %g and high = %g",
                                s->mean, s->low, s->high);
        }
    }
    if (s->low > s->high) {
        return tl_node_fail(doc,
                            low    ? low
                            : high ? high
                                   : s->node,
                            "low = %g is larger than high = %g", s->low, s->high);
    }
    return TALUS_OK;
}

talus_status tl_spread_check(const tl_doc *doc, tl_spread *s) {
    if (s->law == TL_LAW_CONSTANT) return TALUS_OK;
    if (s->law == TL_LAW_VALUES) return spread_check_values(doc, s);
    return spread_check_limits(doc, s);
}

double tl_spread_most(const tl_spread *s) {
    double most = 0.0;
    if (s->law == TL_LAW_CONSTANT) return s->value;
    if (s->law != TL_LAW_VALUES) return s->high;
    for (int32_t k = 0; k < s->values.count; k++) most = TL_MAX(most, s->values.value[k]);
    return most;
}

// A normal number, redrawn until it lies between the limits. The mean does (spread_check_limits),
// so that only limits much narrower than the deviation can fail often; the end nearest to the last
// number is then as good as any value between them.
static double spread_normal(const tl_spread *s, tl_rng *rng) {
    double mean = s->mean, deviation = s->deviation, x = 0.0;
    const bool lognormal = s->law == TL_LAW_LOGNORMAL;
    if (lognormal) spread_log(s, &mean, &deviation);
    for (int k = 0; k < 1000; k++) {
        x = mean + deviation * tl_rng_normal(rng);
        if (lognormal) x = exp(x);
        if (x >= s->low && x <= s->high) return x;
    }
    return x < s->low ? s->low : s->high;
}

static double spread_power(const tl_spread *s, double u) {
    const double l = s->low, ratio = s->high / s->low, p = 1.0 - s->exponent;
    // x/l = (1 + u (ratio^p − 1))^(1/p), written so that p -> 0 is no trouble
    const double x =
        fabs(p) < 1e-9 ? l * exp(u * log(ratio)) : l * exp(log1p(u * expm1(p * log(ratio))) / p);
    return x < l ? l : x > s->high ? s->high : x;
}

static double spread_values(const tl_spread *s, double u) {
    double sum = 0.0, part = 0.0;
    int32_t k = 0;
    if (!s->shares.value) {
        k = (int32_t)(u * s->values.count);
        return s->values.value[k < s->values.count ? k : s->values.count - 1];
    }
    for (k = 0; k < s->shares.count; k++) sum += s->shares.value[k];
    for (k = 0; k + 1 < s->shares.count; k++) {
        part += s->shares.value[k];
        if (u * sum < part) break;
    }
    while (k > 0 && s->shares.value[k] == 0.0) k--; // rounding must not choose a share of 0
    return s->values.value[k];
}

double tl_spread_draw(const tl_spread *s, tl_rng *rng) {
    switch (s->law) {
    case TL_LAW_UNIFORM:
        return tl_rng_range(rng, s->low, s->high);
    case TL_LAW_NORMAL:
    case TL_LAW_LOGNORMAL:
        return spread_normal(s, rng);
    case TL_LAW_POWER:
        return spread_power(s, tl_rng_unit(rng));
    case TL_LAW_VALUES:
        return spread_values(s, tl_rng_unit(rng));
    default:
        return s->value;
    }
}
