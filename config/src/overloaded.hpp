#pragma once

namespace telegate {

/// Combines several function objects into one, to visit a variant with one case per alternative.
template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace telegate
