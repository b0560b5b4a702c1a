// What the PTX ISA says the operations of random kernels do, in C++.
// Compiled without contraction; rounding modes are set in the processor.

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

typedef std::uint32_t u;
typedef std::int32_t s;
typedef std::uint64_t w;
typedef std::int64_t sw;
typedef u u_t;
typedef s s_t;
typedef w uw_t;
typedef sw sw_t;
typedef _Float16 half;
typedef __float128 quad;

static inline u bits(float value) { u b; std::memcpy(&b, &value, 4); return b; }
static inline w bits(double value) { w b; std::memcpy(&b, &value, 8); return b; }
static inline float real(u b) { float value; std::memcpy(&value, &b, 4); return value; }
static inline double real(w b) { double value; std::memcpy(&value, &b, 8); return value; }

static inline float canon(float value) { return value != value ? real((u)0x7fffffff) : value; }
static inline double canon(double value) { return value != value ? real((w)0x7ff8000000000000) : value; }

template <int FTZ> static inline float in(float value)
{
    return FTZ && std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}
template <int FTZ> static inline double in(double value) { return value; }

template <int FTZ, int SAT, typename T> static inline T done(T value)
{
    if (SAT) {
        value = value > 0 ? (value < 1 ? value : T(1)) : T(0);
    }
    return canon(in<FTZ>(value));
}

// A product or fused sum is subnormal where it is with an exponent without bounds (``scaled`` is 2**32 times as
// large), as on an H200 and in IEEE 754-2019, section 7.5, "after rounding".
template <int FTZ, int SAT, typename T> static inline T done_after(T value, T scaled)
{
    return done<FTZ, SAT>(FTZ && std::fabs(scaled) < 0x1p-94f ? std::copysign(T(0), value) : value);
}

// A quotient that is rounded up or down is flushed before, as by an H200.
template <int FTZ, int SAT, typename T> static inline T done_early(T value, T toward_zero)
{
    return done<FTZ, SAT>(FTZ && in<FTZ>(toward_zero) == 0 ? std::copysign(T(0), value) : value);
}

// The operands and the result go through memory, so that nothing is computed before the mode is set or after.
template <typename F, typename T> static inline auto rounded(int mode, F function, T a, T b, T c)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    volatile T first = a, second = b, third = c;
    std::fesetround(modes[mode]);
    volatile auto result = function(first, second, third);
    std::fesetround(FE_TONEAREST);
    auto value = result;
    return value;
}

template <typename T> static inline T least(T a, T b)
{
    if (a != a) {
        return b;
    }
    if (b != b) {
        return a;
    }
    if (a == b) {
        return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
}

static inline float half_down(float value)
{
    half nearest = (half)value;
    if (std::isinf((float)nearest) && !std::isinf(value)) {
        return std::copysign(65504.0f, value);
    }
    if (std::fabs((float)nearest) > std::fabs(value)) {
        std::uint16_t b;
        std::memcpy(&b, &nearest, 2);
        b -= 1;
        std::memcpy(&nearest, &b, 2);
    }
    return (float)nearest;
}

template <typename T> static inline T to_integer(double value, bool wide)
{
    if (value != value) {
        return wide ? (T)((w)1 << (8 * sizeof(T) - 1)) : T(0);
    }
    if (value < (double)std::numeric_limits<T>::min()) {
        return std::numeric_limits<T>::min();
    }
    if (value >= std::ldexp(1.0, 8 * sizeof(T) - std::numeric_limits<T>::is_signed)) {
        return std::numeric_limits<T>::max();
    }
    return (T)value;
}

static inline u sat32(sw value)
{
    return (u)(s)(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}
static inline sw sext24(u value) { return (sw)((s)(value << 8) >> 8); }
static inline w funnel(u high, u low, u by) { return ((w)high << 32 | low) << by; }

static inline u brev32(u value)
{
    u result = 0;
    for (int i = 0; i < 32; ++i) {
        result |= (value >> i & 1) << (31 - i);
    }
    return result;
}

static inline u bfind_shift(s value)
{
    u magnitude = value < 0 ? ~(u)value : (u)value;
    return magnitude ? (u)__builtin_clz(magnitude) : 0xffffffffu;
}

// Sections 9.7.1.19 and 9.7.1.20, bit by bit.
template <typename T> static inline T bfe(T a, u b, u c, bool is_signed)
{
    u position = b & 0xff, length = c & 0xff, top = 8 * sizeof(T) - 1;
    u last = position + length - 1 < top ? position + length - 1 : top;
    T sign = !is_signed || length == 0 ? 0 : a >> last & 1, result = 0;
    for (u i = 0; i <= top; ++i) {
        result |= (i < length && position + i <= top ? a >> (position + i) & 1 : sign) << i;
    }
    return result;
}
template <typename T> static inline T bfi(T a, T b, u c, u d)
{
    u position = c & 0xff, length = d & 0xff, top = 8 * sizeof(T) - 1;
    for (u i = 0; i < length && position + i <= top; ++i) {
        T bit = (T)1 << (position + i);
        b = (a >> i & 1) ? b | bit : b & ~bit;
    }
    return b;
}

static inline u byte_of(u a, u b, u number) { return (u)(((w)b << 32 | a) >> 8 * (number & 7)) & 0xff; }
static inline u prmt(u a, u b, u selector)
{
    u result = 0;
    for (int i = 0; i < 4; ++i) {
        u nibble = selector >> 4 * i & 15, value = byte_of(a, b, nibble);
        result |= (nibble & 8 ? (value & 0x80 ? 0xff : 0) : value) << 8 * i;
    }
    return result;
}
#define PERMUTE(MODE, NUMBER)                                                                     \
    static inline u prmt_##MODE(u a, u b, u selector)                                             \
    {                                                                                             \
        u result = 0;                                                                             \
        s k = selector & 3;                                                                       \
        for (s i = 0; i < 4; ++i) {                                                               \
            result |= byte_of(a, b, (u)(NUMBER)) << 8 * i;                                        \
        }                                                                                         \
        return result;                                                                            \
    }
PERMUTE(f4e, k + i)
PERMUTE(b4e, k - i)
PERMUTE(rc8, k)
PERMUTE(ecl, i > k ? i : k)
PERMUTE(ecr, i < k ? i : k)
PERMUTE(rc16, 2 * (k & 1) + (i & 1))

static inline u lop3(u a, u b, u c, u table)
{
    u result = 0;
    for (int i = 0; i < 32; ++i) {
        u row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
        result |= (table >> row & 1) << i;
    }
    return result;
}
static inline u dot4(u a, u b, bool a_signed, bool b_signed)
{
    s sum = 0;
    for (int i = 0; i < 4; ++i) {
        s x = a_signed ? (s)(signed char)(a >> 8 * i) : (s)(a >> 8 * i & 0xff);
        s y = b_signed ? (s)(signed char)(b >> 8 * i) : (s)(b >> 8 * i & 0xff);
        sum += x * y;
    }
    return (u)sum;
}
static inline u dot2(u a, u b)
{
    return (u)((s)(short)a * (s)(signed char)(b >> 16) + (s)(short)(a >> 16) * (s)(signed char)(b >> 24));
}
