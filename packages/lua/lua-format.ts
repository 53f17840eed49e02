import type { LuaArguments } from './lua-arguments.ts'
import { textOf } from './lua-value.ts'

const directive = /%([-+ #0]*)(\d{0,2})(?:\.(\d{0,2}))?(.?)/gs

interface Directive {
  readonly flags: string
  /** The precision; undefined means as many digits as necessary. */
  readonly precision: number | undefined
}

/** Implements `string.format`, as in C. `%q` writes a text as a script would. */
export function formatLua(args: LuaArguments): string {
  let index = 0
  const template = args.text(0)
  args.run.match(template.length)
  args.run.spend(template.length)
  return template.replaceAll(directive, (...found: unknown[]) => {
    const [, flags = '', width = '', digits, kind = ''] = found.map((each) =>
      typeof each === 'string' ? each : undefined,
    )
    args.run.step()
    if (kind === '%') return '%'
    index += 1
    const precision = digits === undefined ? undefined : Number(digits)
    const convert = Object.hasOwn(conversions, kind) ? conversions[kind] : undefined
    if (convert === undefined) throw args.run.error(`invalid option '%${kind}' to format`)
    const text = convert(args, index, { flags, precision })
    args.run.match(text.length)
    const padded = pad(text, Number(width), kind === 's' ? flags.replaceAll('0', '') : flags)
    args.run.spend(padded.length)
    return padded
  })
}

function pad(text: string, width: number, flags: string): string {
  if (flags.includes('-')) return text.padEnd(width)
  if (!flags.includes('0')) return text.padStart(width)
  const sign = /^[-+ ]/.exec(text)?.[0] ?? ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}

type Conversion = (args: LuaArguments, index: number, directive: Directive) => string

const conversions: Readonly<Record<string, Conversion>> = Object.freeze({
  d: whole,
  i: whole,
  u: whole,
  c: (args: LuaArguments, index: number) => String.fromCharCode(args.whole(index) & 255),
  x: (args: LuaArguments, index: number, { flags }: Directive) =>
    (flags.includes('#') ? '0x' : '') + BigInt.asUintN(64, BigInt(args.whole(index))).toString(16),
  X: (args: LuaArguments, index: number, { flags }: Directive) =>
    (flags.includes('#') ? '0X' : '') +
    BigInt.asUintN(64, BigInt(args.whole(index)))
      .toString(16)
      .toUpperCase(),
  o: (args: LuaArguments, index: number) =>
    BigInt.asUintN(64, BigInt(args.whole(index))).toString(8),
  e: exponent,
  E: (args: LuaArguments, index: number, directive: Directive) =>
    exponent(args, index, directive).toUpperCase(),
  f: (args: LuaArguments, index: number, { flags, precision = 6 }: Directive) => {
    const value = args.number(index)
    return signed(Math.abs(value) < 1e21 ? value.toFixed(precision) : String(value), flags)
  },
  g: general,
  G: (args: LuaArguments, index: number, directive: Directive) =>
    general(args, index, directive).toUpperCase(),
  s: (args: LuaArguments, index: number, { precision }: Directive) => {
    const text = textOf(args.any(index))
    return precision === undefined ? text : text.slice(0, precision)
  },
  q: (args: LuaArguments, index: number) =>
    `"${args
      .text(index)
      .replaceAll(/["\\\n]/g, '\\$&')
      .replaceAll('\r', '\\r')
      .replaceAll('\0', '\\000')}"`,
})

function signed(text: string, flags: string): string {
  if (text.startsWith('-')) return text
  if (flags.includes('+')) return `+${text}`
  return flags.includes(' ') ? ` ${text}` : text
}

function whole(args: LuaArguments, index: number, { flags, precision = 0 }: Directive): string {
  const value = BigInt(args.whole(index))
  const digits = (value < 0n ? -value : value).toString().padStart(precision, '0')
  return signed(value < 0n ? `-${digits}` : digits, flags)
}

function exponent(args: LuaArguments, index: number, { flags, precision = 6 }: Directive): string {
  return signed(twoDigits(args.number(index).toExponential(precision)), flags)
}

function twoDigits(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/** Returns the shorter of both notations, without trailing zeros. */
function general(args: LuaArguments, index: number, { flags, precision = 6 }: Directive): string {
  const value = args.number(index)
  const digits = Math.max(1, precision)
  // The digits are written twice, and searched for zeros.
  args.run.step(digits)
  const power = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1])
  const isShort = power < -4 || power >= digits
  const text = isShort ? value.toExponential(digits - 1) : value.toFixed(digits - 1 - power)
  const bare = flags.includes('#') ? text : text.replace(/(\.\d*?)0+(?=e|$)/, '$1')
  return signed(twoDigits(bare.replace(/\.(?=e|$)/, '')), flags)
}
