/// An event sink that handles all events in one function template.
///
/// Idea       The class overrides on() for each event of a list, and each override calls Body::take(event). A new event needs no line in the sink.
/// Invariant  Body derives from EventTaker<Body, Base, AllEvents>. on() is defined in Body's own source, where take() is known.
/// Cost       One virtual call an event.
#pragma once

#include "base/events.h"

namespace flashlab {

template <class Body, class Base, class List>
class EventTaker;

template <class Body, class Base>
class EventTaker<Body, Base, EventList<>> : public Base {
protected:
    using Base::Base;
};

template <class Body, class Base, class First, class... Rest>
class EventTaker<Body, Base, EventList<First, Rest...>> : public EventTaker<Body, Base, EventList<Rest...>> {
    using Next = EventTaker<Body, Base, EventList<Rest...>>;

public:
    using Next::on;
    void on(const First& event) override;

protected:
    using Next::Next;
};

} // namespace flashlab
