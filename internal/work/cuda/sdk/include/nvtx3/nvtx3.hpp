// NVTX 3 for C++: ranges that end with their scope, marks, domains and attributes.
#ifndef HEDDLE_NVTX3_HPP
#define HEDDLE_NVTX3_HPP

#include <string>
#include <type_traits>
#include <utility>

#include "nvToolsExt.h"

namespace nvtx3 {
inline namespace v1 {

// A domain is a type with a member name, a text of char or wchar_t; the global one has
// none.
class domain {
  nvtxDomainHandle_t handle = nullptr;
  explicit domain(const char *name) : handle(nvtxDomainCreateA(name)) {}
  explicit domain(const wchar_t *name) : handle(nvtxDomainCreateW(name)) {}
  domain() = default;

 public:
  struct global {};
  domain(const domain &) = delete;
  domain &operator=(const domain &) = delete;
  operator nvtxDomainHandle_t() const noexcept { return handle; }
  template <typename D = global, typename std::enable_if<!std::is_same<D, global>::value, int>::type = 0> static const domain &get() {
    static const domain d(D::name);
    return d;
  }
  template <typename D = global, typename std::enable_if<std::is_same<D, global>::value, int>::type = 0> static const domain &get() {
    static const domain d;
    return d;
  }
};

struct rgb {
  uint8_t red, green, blue;
  constexpr rgb(uint8_t r, uint8_t g, uint8_t b) noexcept : red(r), green(g), blue(b) {}
};
struct argb {
  uint8_t alpha, red, green, blue;
  constexpr argb(uint8_t a, uint8_t r, uint8_t g, uint8_t b) noexcept : alpha(a), red(r), green(g), blue(b) {}
};
class color {
  uint32_t bits;

 public:
  constexpr explicit color(uint32_t code) noexcept : bits(code) {}
  constexpr color(argb c) noexcept : bits(uint32_t(c.alpha) << 24 | uint32_t(c.red) << 16 | uint32_t(c.green) << 8 | c.blue) {}
  constexpr color(rgb c) noexcept : color(argb(255, c.red, c.green, c.blue)) {}
  constexpr uint32_t get_value() const noexcept { return bits; }
};

class category {
  uint32_t id;

 public:
  constexpr explicit category(uint32_t i) noexcept : id(i) {}
  constexpr uint32_t get_id() const noexcept { return id; }
};
template <typename D = domain::global> class named_category_in final : public category {
 public:
  named_category_in(uint32_t id, const char *name) noexcept : category(id) { nvtxDomainNameCategoryA(domain::get<D>(), id, name); }
  named_category_in(uint32_t id, const wchar_t *name) noexcept : category(id) { nvtxDomainNameCategoryW(domain::get<D>(), id, name); }
};
using named_category = named_category_in<domain::global>;

template <typename D = domain::global> class registered_string_in {
  nvtxStringHandle_t handle;

 public:
  explicit registered_string_in(const char *text) noexcept : handle(nvtxDomainRegisterStringA(domain::get<D>(), text)) {}
  explicit registered_string_in(const std::string &text) noexcept : registered_string_in(text.c_str()) {}
  explicit registered_string_in(const wchar_t *text) noexcept : handle(nvtxDomainRegisterStringW(domain::get<D>(), text)) {}
  nvtxStringHandle_t get_handle() const noexcept { return handle; }
  // The string of a type with a member message.
  template <typename M> static const registered_string_in &get() {
    static const registered_string_in s(M::message);
    return s;
  }
};
using registered_string = registered_string_in<domain::global>;

class message {
  nvtxMessageType_t type;
  nvtxMessageValue_t value;

 public:
  constexpr message(const char *text) noexcept : type(NVTX_MESSAGE_TYPE_ASCII), value{text} {}
  message(const std::string &text) noexcept : message(text.c_str()) {}
  message(std::string &&) = delete; // it would end before its use
  message(const wchar_t *text) noexcept : type(NVTX_MESSAGE_TYPE_UNICODE), value{} { value.unicode = text; }
  message(nvtxStringHandle_t handle) noexcept : type(NVTX_MESSAGE_TYPE_REGISTERED), value{} { value.registered = handle; }
  template <typename D> message(const registered_string_in<D> &s) noexcept : message(s.get_handle()) {}
  nvtxMessageType_t get_type() const noexcept { return type; }
  nvtxMessageValue_t get_value() const noexcept { return value; }
};

class payload {
  nvtxPayloadType_t type;
  decltype(nvtxEventAttributes_t::payload) value;

 public:
  explicit payload(int64_t v) noexcept : type(NVTX_PAYLOAD_TYPE_INT64), value{} { value.llValue = v; }
  explicit payload(uint64_t v) noexcept : type(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64), value{} { value.ullValue = v; }
  explicit payload(int32_t v) noexcept : type(NVTX_PAYLOAD_TYPE_INT32), value{} { value.iValue = v; }
  explicit payload(uint32_t v) noexcept : type(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32), value{} { value.uiValue = v; }
  explicit payload(double v) noexcept : type(NVTX_PAYLOAD_TYPE_DOUBLE), value{} { value.dValue = v; }
  explicit payload(float v) noexcept : type(NVTX_PAYLOAD_TYPE_FLOAT), value{} { value.fValue = v; }
  nvtxPayloadType_t get_type() const noexcept { return type; }
  decltype(value) get_value() const noexcept { return value; }
};

// The attributes of a range or mark, in any order; of two of one kind the first counts.
class event_attributes {
  nvtxEventAttributes_t a{};
  void set(const message &m) noexcept {
    a.messageType = m.get_type();
    a.message = m.get_value();
  }
  void set(const color &c) noexcept {
    a.colorType = NVTX_COLOR_ARGB;
    a.color = c.get_value();
  }
  void set(const payload &p) noexcept {
    a.payloadType = p.get_type();
    a.payload = p.get_value();
  }
  void set(const category &c) noexcept { a.category = c.get_id(); }

 public:
  event_attributes() noexcept {
    a.version = NVTX_VERSION;
    a.size = sizeof a;
  }
  template <typename... Args> explicit event_attributes(const message &m, const Args &...rest) noexcept : event_attributes(rest...) { set(m); }
  template <typename... Args> explicit event_attributes(const color &c, const Args &...rest) noexcept : event_attributes(rest...) { set(c); }
  template <typename... Args> explicit event_attributes(const payload &p, const Args &...rest) noexcept : event_attributes(rest...) { set(p); }
  template <typename... Args> explicit event_attributes(const category &c, const Args &...rest) noexcept : event_attributes(rest...) { set(c); }
  const nvtxEventAttributes_t *get() const noexcept { return &a; }
};

template <typename D = domain::global> class scoped_range_in {
 public:
  explicit scoped_range_in(const event_attributes &attributes) noexcept { nvtxDomainRangePushEx(domain::get<D>(), attributes.get()); }
  template <typename First, typename... Args,
            typename = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
  explicit scoped_range_in(const First &first, const Args &...args) noexcept : scoped_range_in(event_attributes(first, args...)) {}
  scoped_range_in() noexcept : scoped_range_in(event_attributes()) {}
  scoped_range_in(const scoped_range_in &) = delete;
  scoped_range_in &operator=(const scoped_range_in &) = delete;
  ~scoped_range_in() noexcept { nvtxDomainRangePop(domain::get<D>()); }
};
using scoped_range = scoped_range_in<domain::global>;
using thread_range = scoped_range;
template <typename D> using scoped_thread_range_in = scoped_range_in<D>;

class range_handle {
  nvtxRangeId_t id = 0;

 public:
  constexpr range_handle() noexcept = default;
  constexpr explicit range_handle(nvtxRangeId_t i) noexcept : id(i) {}
  constexpr explicit operator bool() const noexcept { return id != 0; }
  constexpr nvtxRangeId_t get_value() const noexcept { return id; }
};
template <typename D = domain::global> inline range_handle start_range_in(const event_attributes &attributes) noexcept {
  return range_handle(nvtxDomainRangeStartEx(domain::get<D>(), attributes.get()));
}
template <typename D = domain::global, typename First, typename... Args,
          typename = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
inline range_handle start_range_in(const First &first, const Args &...args) noexcept {
  return start_range_in<D>(event_attributes(first, args...));
}
template <typename... Args> inline range_handle start_range(const Args &...args) noexcept { return start_range_in<domain::global>(args...); }
template <typename D = domain::global> inline void end_range_in(range_handle r) noexcept { nvtxDomainRangeEnd(domain::get<D>(), r.get_value()); }
inline void end_range(range_handle r) noexcept { end_range_in<domain::global>(r); }

template <typename D = domain::global> class unique_range_in {
  range_handle handle;

 public:
  template <typename... Args> explicit unique_range_in(const Args &...args) noexcept : handle(start_range_in<D>(args...)) {}
  unique_range_in(unique_range_in &&other) noexcept : handle(std::exchange(other.handle, range_handle())) {}
  unique_range_in(const unique_range_in &) = delete;
  ~unique_range_in() noexcept {
    if (handle)
      end_range_in<D>(handle);
  }
};
using unique_range = unique_range_in<domain::global>;

template <typename D = domain::global> inline void mark_in(const event_attributes &attributes) noexcept {
  nvtxDomainMarkEx(domain::get<D>(), attributes.get());
}
template <typename D = domain::global, typename First, typename... Args,
          typename = typename std::enable_if<!std::is_same<event_attributes, typename std::decay<First>::type>::value>::type>
inline void mark_in(const First &first, const Args &...args) noexcept {
  mark_in<D>(event_attributes(first, args...));
}
template <typename... Args> inline void mark(const Args &...args) noexcept { mark_in<domain::global>(args...); }

} // namespace v1
} // namespace nvtx3

// A range as long as the function in which it stands, with its name.
#define NVTX3_FUNC_RANGE() const ::nvtx3::scoped_range nvtx3_func_range__(__func__)
#define NVTX3_FUNC_RANGE_IN(D) const ::nvtx3::scoped_range_in<D> nvtx3_func_range__(__func__)
#define NVTX3_V1_FUNC_RANGE() NVTX3_FUNC_RANGE()
#define NVTX3_V1_FUNC_RANGE_IN(D) NVTX3_FUNC_RANGE_IN(D)

#endif
