// A doubly linked list whose links are members of its elements: no allocation, removal in O(1), and an element may be on
// several lists by having several links.
#pragma once

namespace sluice {

template <class T>
struct ListLink {
  T* previous = nullptr;
  T* next = nullptr;
  bool linked = false;
};

template <class T, ListLink<T> T::*link>
class IntrusiveList {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] T* first() const { return first_; }
  [[nodiscard]] static T* next(const T* element) { return (element->*link).next; }
  [[nodiscard]] static bool contains(const T* element) { return (element->*link).linked; }

  void push_back(T* element) {
    (element->*link) = {last_, nullptr, true};
    (last_ ? (last_->*link).next : first_) = element;
    last_ = element;
  }

  /// `place` is on this list; nullptr: at its end.
  void insert_before(T* place, T* element) {
    if (!place) return push_back(element);
    ListLink<T>& next = place->*link;
    (element->*link) = {next.previous, place, true};
    (next.previous ? (next.previous->*link).next : first_) = element;
    next.previous = element;
  }

  void remove(T* element) {
    ListLink<T>& own = element->*link;
    (own.previous ? (own.previous->*link).next : first_) = own.next;
    (own.next ? (own.next->*link).previous : last_) = own.previous;
    own = {};
  }

  T* pop_front() {
    T* element = first_;
    if (element) remove(element);
    return element;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace sluice
