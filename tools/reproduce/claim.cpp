#include "tools/reproduce/claim.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/contract.h"
#include "tools/reproduce/experiment.h"

namespace flashlab {
namespace {

/// Whether `text` is `pattern` with any text in place of each star.
bool fits(std::string_view pattern, std::string_view text) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == text;
    if (!text.starts_with(pattern.substr(0, star))) return false;
    const std::string_view rest = pattern.substr(star + 1);
    for (std::size_t at = star; at <= text.size(); ++at)
        if (fits(rest, text.substr(at))) return true;
    return false;
}

ReproducedClaim with_bounds(std::string_view id, const std::string& name, std::string ours, ClaimKind kind, std::string_view paper,
                            std::vector<Bound> bounds, std::vector<Evidence> evidence) {
    ReproducedClaim claim;
    claim.ours = std::move(ours);
    claim.kind = kind;
    claim.paper = paper;
    for (const Bound& bound : bounds) claim.bound += fmt::format("{}{}", claim.bound.empty() ? "" : "; ", to_text(bound));
    claim.text = fmt::format("{} [{}]", name, claim.bound);
    claim.bounds = std::move(bounds);
    claim.evidence = std::move(evidence);
    claim.holds = holds(claim);
    if (!claim.holds) {
        const auto at = std::ranges::find_if(claim_causes(), [&](const ClaimCause& c) { return fits(c.id, id) && fits(c.claim, name); });
        claim.cause = at == claim_causes().end() ? "not explained" : at->shown_by;
    }
    return claim;
}

bool is_beyond(std::string_view id) { return id.starts_with("beyond-"); }

} // namespace

std::string_view to_text(ClaimKind kind) {
    constexpr std::array<std::string_view, 3> names{"result", "fitted", "by_construction"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string_view words_of(ClaimKind kind) { return kind == ClaimKind::by_construction ? "by construction" : to_text(kind); }

std::string_view ReproducedClaim::name() const {
    const std::string_view whole = text;
    return whole.substr(0, whole.size() - std::min(whole.size(), bound.size() + 3));
}

const ClaimSpec* find_claim_spec(std::string_view id, std::string_view claim) {
    const auto at = std::ranges::find_if(claim_specs(), [&](const ClaimSpec& s) { return fits(s.id, id) && fits(s.claim, claim); });
    return at == claim_specs().end() ? nullptr : &*at;
}

ReproducedClaim judged(std::string_view id, std::string name, std::string ours, std::vector<Evidence> evidence) {
    const ClaimSpec* spec = find_claim_spec(id, name);
    ensure(spec != nullptr, "paper_values.cpp has a line for each claim");
    std::vector<Bound> bounds{spec->bound};
    if (spec->second.rule != Rule::none) bounds.push_back(spec->second);
    return with_bounds(id, name, std::move(ours), spec->kind, spec->paper, std::move(bounds), std::move(evidence));
}

bool holds(const ReproducedClaim& claim) {
    if (claim.bounds.empty() || claim.bounds.size() != claim.evidence.size()) return false;
    for (std::size_t i = 0; i < claim.bounds.size(); ++i)
        if (!holds(claim.bounds[i], claim.evidence[i])) return false;
    return true;
}

std::vector<ReproducedClaim> judge_quoted(std::string_view id, const Reproduction& result) {
    std::vector<ReproducedClaim> claims;
    for (const QuotedValue& value : quoted_values()) {
        if (value.id != id || !value.is_judged) continue;
        const auto at = std::ranges::find_if(result.points, [&](const ReproducedPoint& p) { return p.series == value.series && p.x == value.x; });
        const bool is_measured = at != result.points.end();
        claims.push_back(with_bounds(id, fmt::format("{} at {:g}: as the paper's {:g}", value.series, value.x, value.paper),
                                     is_measured ? fmt::format("{:.4g}, {:.2f} of it", at->ours, at->ours / value.paper) : "not measured", value.kind,
                                     fmt::format("{:g} ({})", value.paper, value.section), {quoted_bound(value)},
                                     {{is_measured ? std::vector{at->ours} : std::vector<double>{}, {value.paper}}}));
        if (is_measured) claims.back().quoted = QuotedPoint{value.series, value.x, value.paper, at->ours};
    }
    return claims;
}

void ClaimTally::add(std::string_view id, const ReproducedClaim& claim) {
    Count& count = is_beyond(id) || !claim.is_of_the_paper() ? beyond_ : counts_[static_cast<std::size_t>(claim.kind)];
    ++count.claims;
    count.held += claim.holds ? 1 : 0;
}

void ClaimTally::add(std::string_view id, std::span<const ReproducedClaim> claims) {
    for (const ReproducedClaim& claim : claims) add(id, claim);
}

std::string ClaimTally::text() const {
    std::string out;
    const auto add = [&out](std::string_view what, const Count& c, std::string_view claims) {
        if (c.claims != 0) out += fmt::format("{}{}: {} of {} {}hold", out.empty() ? "" : "; ", what, c.held, c.claims, claims);
    };
    add("results of the papers", results(), "claims ");
    add("fitted to the papers", of(ClaimKind::fitted), "");
    add("true by construction", of(ClaimKind::by_construction), "");
    add("not the papers'", beyond_, "");
    return out.empty() ? "no claims" : out;
}

} // namespace flashlab
