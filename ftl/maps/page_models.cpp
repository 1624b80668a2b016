#include "ftl/maps/page_models.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace flashlab {

namespace {

/// An interval takes the room of four entries: with fewer pages it is not worth it.
constexpr std::uint32_t least_pages_on_line = 4;
constexpr std::uint32_t lines_tried = 16;
constexpr std::uint64_t waiting_part = 4;                                     ///< one of so many bytes of the models is for pages that wait, at most
constexpr std::uint32_t steepest = std::numeric_limits<std::uint16_t>::max(); ///< of a rise and a run: two bytes each

} // namespace

PageModels::PageModels(const TableParts& parts, std::uint32_t entries_per_page, const ModelConfig& config)
    : parts_{parts}, config_{config}, entries_per_page_{entries_per_page}, numbers_{parts.blocks},
      models_((parts.logical_pages + entries_per_page - 1) / entries_per_page), is_exact_(parts.logical_pages),
      groups_{parts.blocks, numbers_, config.groups, parts.logical_pages}, moved_(parts.blocks.groups()) {}

void PageModels::give(std::uint64_t mapping_cache_bytes) {
    given_ = mapping_cache_bytes / 1000 * config_.permille + mapping_cache_bytes % 1000 * config_.permille / 1000;
    most_waiting_ = given_ / waiting_part / point_bytes;
    while (waiting_ > most_waiting_ && !most_moved().empty()) clear(most_moved());
    if (waiting_ > most_waiting_)
        for (Run* run : {&host_run_, &sorted_run_}) clear(run->points);
    while (used_ > given_) drop(coldest_);
}

std::optional<UnitId> PageModels::said_of(const Model& model, std::uint32_t index) const {
    for (std::size_t i = model.intervals.size(); i-- > 0;)
        if (model.intervals[i].holds(index)) return said_by(model.intervals[i], index);
    return std::nullopt;
}

void PageModels::forget_known(Lpn lpn) {
    is_exact_[lpn.value()] = false;
    if (--models_[page_of(lpn)].exact == 0) drop(page_of(lpn));
}

// What was written

void PageModels::placed(Run& run, Lpn lpn, UnitId unit) {
    if (run.pages != 0 && lpn.value() != run.last + 1) end(run);
    run.last = lpn.value();
    wait(run.points, lpn, unit);
    if (++run.pages % config_.train_pages == 0) train(run.points);
}

/// What is left of a long one is learned, too.
void PageModels::end(Run& run) {
    if (run.pages >= config_.train_pages) train(run.points);
    clear(run.points);
    run.pages = 0;
}

// Pages that wait to be trained on

/// It is one of a run, or of what a collection moved: of these, those of one group are trained on for it at once where there is no room. Where there
/// is none then either, nothing is learned of it.
void PageModels::wait(std::vector<Point>& points, Lpn lpn, UnitId unit) {
    if (waiting_ >= most_waiting_) train(most_moved());
    if (waiting_ >= most_waiting_) return;
    while (used_ + point_bytes > given_) drop(coldest_);
    points.push_back({lpn, unit});
    ++waiting_;
    used_ += point_bytes;
}

void PageModels::clear(std::vector<Point>& points) {
    waiting_ -= points.size();
    used_ -= point_bytes * points.size();
    points.clear();
}

void PageModels::clear_of(std::vector<Point>& points, BlockId victim) {
    const std::uint64_t gone = std::erase_if(points, [&](const Point& p) { return parts_.blocks.units().block_of(p.unit) == victim; });
    waiting_ -= gone;
    used_ -= point_bytes * gone;
}

std::optional<RowPlace> PageModels::place_to_write(const PagesToWrite& what, std::uint32_t i, std::uint32_t pages) {
    if (!groups_.are_there()) return std::nullopt;
    const std::uint32_t first = what.lpn(i).value();
    std::uint32_t in_order = host_run_.pages != 0 && first == host_run_.last + 1
                                 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(host_run_.pages, config_.train_pages))
                                 : 0;
    for (std::uint32_t k = 0; k < what.pages - i && what.lpn(i + k).value() == first + k && in_order < config_.train_pages; ++k) ++in_order;
    if (in_order >= config_.train_pages) return std::nullopt;
    const std::uint32_t group = groups_.of(Lpn{first});
    std::uint32_t same = 1;
    while (same < pages && groups_.of(what.lpn(i + same)) == group) ++same;
    return groups_.place_in(group, same);
}

void PageModels::moved(Lpn lpn, UnitId to) {
    groups_.copied();
    std::vector<Point>& copies = moved_[parts_.blocks.group_of(parts_.blocks.units().block_of(to)).value()];
    wait(copies, lpn, to);
    if (copies.size() >= parts_.blocks.units().units_per_block()) train(copies);
}

void PageModels::collected(GroupId group, BlockId victim) {
    std::vector<Point>& copies = moved_[group.value()];
    if (copies.size() >= config_.train_pages) train(copies);
    clear(copies);
    for (Run* run : {&host_run_, &sorted_run_}) clear_of(run->points, victim);
    for (std::vector<Point>& waiting : moved_) clear_of(waiting, victim);
    numbers_.erased(victim);
}

// Training

/// By logical page; those that were written again, moved or trimmed meanwhile are not valid any more: what waits is dropped before its block is
/// erased.
void PageModels::train(std::vector<Point>& points) {
    placed_.clear();
    for (const Point& p : points)
        if (const auto place = numbers_.place_of(p.unit); place && parts_.blocks.valid().test(p.unit)) placed_.push_back({p.lpn, p.unit, *place});
    clear(points);
    std::ranges::sort(placed_, {}, &Placed::lpn);
    for (auto p = placed_.begin(); p != placed_.end();) {
        const std::uint32_t page = page_of(p->lpn), frontier = p->place.frontier;
        const auto end =
            std::find_if(p, placed_.end(), [&](const Placed& other) { return page_of(other.lpn) != page || other.place.frontier != frontier; });
        train_page(page, {p, end});
        p = end;
    }
}

/// The kind of number by which most pages lie on lines decides.
void PageModels::train_page(std::uint32_t page, std::span<const Placed> points) {
    best_.clear();
    std::uint64_t most = 0;
    std::uint32_t best_chunk = 0;
    for (std::uint32_t chunk = 0; chunk < numbers_.chunks().size() && most < points.size(); ++chunk) {
        fit(models_[page], points, chunk);
        std::uint64_t on_lines = 0;
        for (const Line& line : lines_) on_lines += line.pages;
        if (on_lines <= most) continue;
        most = on_lines;
        best_chunk = chunk;
        std::swap(best_, lines_);
    }
    // One that grows names its interval by its place: those come before any other is made or goes.
    std::ranges::sort(best_, {}, [](const Line& line) { return std::tuple{line.grown == none, ~line.pages, line.first}; });
    bool has_learned = false;
    for (std::size_t i = 0; i < std::min<std::size_t>(best_.size(), config_.intervals); ++i)
        has_learned = take(page, best_[i], points.front().place.frontier, best_chunk) || has_learned;
    if (has_learned) set_bits(page, points);
    if (models_[page].is_here && models_[page].exact == 0) drop(page);
}

/// Lines through neighbours, and those of intervals that may go on. What lies between on none of them is left out: a die that fell behind, say.
void PageModels::fit(const Model& model, std::span<const Placed> points, std::uint32_t chunk) {
    lines_.clear();
    numbered_.clear();
    for (const Placed& p : points) numbered_.push_back({index_of(p.lpn), numbers_.number(p.place, numbers_.chunks()[chunk])});
    for (std::uint32_t i = 0; i < model.intervals.size(); ++i) {
        const Interval& known = model.intervals[i];
        if (known.chunk == chunk && known.frontier == points.front().place.frontier)
            lines_.push_back({known.first, known.last, known.run, known.rise, known.number, 0, i});
    }
    const auto most = static_cast<std::uint32_t>(lines_.size()) + lines_tried;
    for (std::size_t i = 0; i < numbered_.size(); ++i) put_on_line(i, most);
    const std::uint32_t least = std::min(least_pages_on_line, config_.train_pages);
    std::erase_if(lines_, [&](const Line& line) { return line.pages < (line.grown == none ? least : 1); });
}

void PageModels::put_on_line(std::size_t i, std::uint32_t lines_at_most) {
    const auto [page, number] = numbered_[i];
    // An interval goes on where it ended, but for a die or two that fell behind: farther away it meets a number by chance.
    const auto on = std::ranges::find_if(lines_, [&, near = 2 * numbers_.stripe()](const Line& line) {
        return line.is_on(page, number) && (line.grown == none || page <= line.last + near * line.run);
    });
    if (on != lines_.end()) {
        on->last = std::max(on->last, page);
        ++on->pages;
        return;
    }
    if (i == 0 || number <= numbered_[i - 1].number) return;
    const auto [before, from] = numbered_[i - 1];
    const std::uint64_t rise = number - from, run = page - before, common = std::gcd(rise, run);
    if (rise / common > steepest || run / common > steepest) return;
    const Line line{before, page, static_cast<std::uint32_t>(run / common), static_cast<std::uint32_t>(rise / common), from, 2, none};
    if (lines_.size() < lines_at_most) {
        lines_.push_back(line);
        return;
    }
    const auto least = std::ranges::min_element(lines_, {}, [](const Line& l) { return std::pair{l.grown != none, l.pages}; });
    if (least->grown == none) *least = line;
}

/// The interval is made, or grows. False: it would cost more bits than it brings, or has no room.
bool PageModels::take(std::uint32_t page, const Line& line, std::uint32_t frontier, std::uint32_t chunk) {
    Model& model = models_[page];
    const bool is_new = line.grown == none;
    const Interval made{line.first, line.last, line.run, line.rise, frontier, chunk, line.number};
    // Pages of which it is the newest word from now on, and said otherwise until now.
    const std::uint32_t from = is_new ? made.first : std::max(made.first, model.intervals[line.grown].last + 1);
    const auto is_hidden = [&](std::uint32_t index) {
        for (std::size_t i = model.intervals.size(); !is_new && i-- > line.grown + std::size_t{1};)
            if (model.intervals[i].holds(index)) return true;
        return false;
    };
    const auto each_lost = [&](const auto& visit) {
        for (std::uint32_t index = from; index <= made.last; ++index)
            if (made.holds(index) && is_exact_[lpn_at(page, index).value()] && !is_hidden(index) && said_by(made, index) != said_of(model, index))
                visit(lpn_at(page, index));
    };
    std::uint32_t lost = 0;
    each_lost([&](Lpn) { ++lost; });
    if (lost >= line.pages) return false;
    if (is_new && model.intervals.size() == config_.intervals && !drop_least(page, line.pages)) return false;
    if (is_new && !make_room_for_interval(page)) return false;
    each_lost([&](Lpn lpn) { lose(model, lpn); });
    if (is_new)
        model.intervals.push_back(made);
    else
        model.intervals[line.grown].last = std::max(model.intervals[line.grown].last, made.last);
    ++counted_.trainings;
    return true;
}

void PageModels::set_bits(std::uint32_t page, std::span<const Placed> points) {
    Model& model = models_[page];
    for (const Placed& p : points) {
        if (knows(p.lpn) || said_of(model, index_of(p.lpn)) != p.unit) continue;
        is_exact_[p.lpn.value()] = true;
        ++model.exact;
        ++counted_.pages_learned;
    }
}

/// The interval by which the fewest pages are known goes, and what it knew; false: all know so many at least.
bool PageModels::drop_least(std::uint32_t page, std::uint32_t below) {
    Model& model = models_[page];
    answers_.assign(model.intervals.size(), 0);
    const auto known_by = [&](std::uint32_t index) {
        std::size_t i = model.intervals.size() - 1;
        while (!model.intervals[i].holds(index)) --i;
        return i;
    };
    each_known(page, [&](std::uint32_t index) { ++answers_[known_by(index)]; });
    const auto least = std::ranges::min_element(answers_);
    if (*least >= below) return false;
    const auto place = static_cast<std::size_t>(least - answers_.begin());
    each_known(page, [&](std::uint32_t index) {
        if (known_by(index) == place) lose(model, lpn_at(page, index));
    });
    model.intervals.erase(model.intervals.begin() + static_cast<std::ptrdiff_t>(place));
    used_ -= interval_bytes;
    return true;
}

// Room

/// Other models go, the one used longest ago first.
bool PageModels::make_room_for_interval(std::uint32_t page) {
    Model& model = models_[page];
    const std::uint64_t bytes = interval_bytes + (model.is_here ? 0 : bytes_of_model());
    while (used_ + bytes > given_) {
        const std::uint32_t victim = coldest_ == page ? model.hotter : coldest_;
        if (victim == none) return false;
        drop(victim);
    }
    used_ += bytes;
    model.is_here = true;
    touch(page);
    return true;
}

void PageModels::drop(std::uint32_t page) {
    Model& model = models_[page];
    if (model.exact != 0) each_known(page, [&](std::uint32_t index) { lose(model, lpn_at(page, index)); });
    unlink(page);
    used_ -= bytes_of_model() + interval_bytes * model.intervals.size();
    model.intervals.clear();
    model.is_here = false;
}

void PageModels::touch(std::uint32_t page) {
    if (hottest_ == page) return;
    unlink(page);
    Model& model = models_[page];
    model.colder = hottest_;
    (hottest_ == none ? coldest_ : models_[hottest_].hotter) = page;
    hottest_ = page;
}

void PageModels::unlink(std::uint32_t page) {
    Model& model = models_[page];
    if (hottest_ != page && model.hotter == none) return; // in no order
    (model.hotter == none ? hottest_ : models_[model.hotter].colder) = model.colder;
    (model.colder == none ? coldest_ : models_[model.colder].hotter) = model.hotter;
    model.colder = model.hotter = none;
}

} // namespace flashlab
