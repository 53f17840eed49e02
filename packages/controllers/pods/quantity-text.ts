import { binaryExponents, decimalExponents } from '@skerry/api'
import { controllerBounds } from '../limits-table.ts'

const { digitsMax } = controllerBounds.quantityText

/**
 * Formats a quantity as the fields of upstream's Go type, from which a template's hash is computed:
 * number and scale, and the text itself if upstream keeps it because it is canonical. `text` is
 * what an API server stores: without a fraction, and blank if there is none.
 */
export function quantityText(text: string): string {
  if (text === '') return smallText({ value: 0n, scale: 0, text, format: '' })
  const [, sign = '', digits = '0', suffix = ''] = /^([+-]?)(\d+)(.*)$/.exec(text) ?? []
  const binary = binaryExponents[suffix]
  const value = BigInt(`${sign}${digits}`)
  if (binary !== undefined) return binaryText({ text, value, digits, exponent: binary })
  const [, power] = /^[eE]([+-]?\d+)$/.exec(suffix) ?? []
  const scale = power === undefined ? (decimalExponents[suffix] ?? 0) : Number(power)
  const format = power === undefined ? 'DecimalSI' : 'DecimalExponent'
  if (text === '0') return smallText({ value: 0n, scale: 0, text, format })
  if (digits.length > digitsMax) return largeText(value, { scale: -scale, format })
  const isCanonical = scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
  return smallText({ value, scale, text: isCanonical ? text : '', format })
}

interface Binary {
  readonly text: string
  readonly value: bigint
  readonly digits: string
  readonly exponent: number
}

function binaryText({ text, value, digits, exponent }: Binary): string {
  const product = value << BigInt(exponent)
  const digitsLeft = 15 - digits.length - Math.trunc((exponent * 3) / 10) - 1
  if (digitsLeft < 0) return largeText(product, { scale: 0, format: 'BinarySI' })
  const isCanonical = (value & 7n) !== 0n
  return smallText({ value: product, scale: 0, text: isCanonical ? text : '', format: 'BinarySI' })
}

interface Small {
  readonly value: bigint
  readonly scale: number
  readonly text: string
  readonly format: string
}

function smallText({ value, scale, text, format }: Small): string {
  const amount = `i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`
  const none = 'd:(resource.infDecAmount){Dec:(*inf.Dec)<nil>}'
  return `{${amount} ${none} s:(string)${text} Format:(resource.Format)${format}}`
}

/** Handles numbers beyond 64 bits, and those that upstream treats as such. */
function largeText(value: bigint, { scale, format }: { scale: number; format: string }): string {
  const words: bigint[] = []
  for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 64n) {
    words.push(BigInt.asUintN(64, rest))
  }
  const abs = words.length === 0 ? '<nil>' : `[${words.join(' ')}]`
  const unscaled = `unscaled:(big.Int){neg:(bool)${value < 0n} abs:(big.nat)${abs}}`
  const amount = 'i:(resource.int64Amount){value:(int64)0 scale:(resource.Scale)0}'
  const decimal = `d:(resource.infDecAmount){Dec:(*inf.Dec){${unscaled} scale:(inf.Scale)${scale}}}`
  return `{${amount} ${decimal} s:(string) Format:(resource.Format)${format}}`
}
