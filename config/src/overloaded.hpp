#pragma once

namespace telegate {

/// One function object from several, to visit a variant with one case for each alternative.
template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace telegate
