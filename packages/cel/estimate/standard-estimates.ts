import type { CallEstimate, SizeEstimate } from '../check/library.ts'
import { fixedRange, product, scaled, sum, unknownSize } from './range.ts'

export type Estimate = (args: readonly SizeEstimate[]) => CallEstimate

const textFactor = 0.1
const patternFactor = 0.25

export function sizeAt(args: readonly SizeEstimate[], at: number): { min: number; max: number } {
  return args[at]?.size ?? unknownSize
}

/** Estimates one traversal of an argument, or `factor` ones. */
export function traversing(at: number, factor = 1): Estimate {
  return (args) => ({ cost: scaled(sizeAt(args, at), textFactor * factor) })
}

/** Does the same as traversing; the result is as large as the argument. */
export function copying(at: number): Estimate {
  return (args) => ({ cost: scaled(sizeAt(args, at), textFactor), resultSize: sizeAt(args, at) })
}

export const nominal: Estimate = () => ({ cost: fixedRange(1) })

export const equalityEstimate: Estimate = (args) => {
  const max = Math.min(sizeAt(args, 0).max, sizeAt(args, 1).max)
  return { cost: scaled({ min: max > 0 ? 1 : 0, max }, textFactor) }
}

export const addEstimate: Estimate = (args) => {
  const resultSize = sum(sizeAt(args, 0), sizeAt(args, 1))
  return { cost: scaled(resultSize, textFactor), resultSize }
}

export const listAddEstimate: Estimate = (args) => ({
  cost: fixedRange(1),
  resultSize: sum(sizeAt(args, 0), sizeAt(args, 1)),
})

export const inListEstimate: Estimate = (args) => ({ cost: sizeAt(args, 1) })

export function textSizeEstimate({ min, max }: { min: number; max: number }): Estimate {
  return (args) => {
    const size = sizeAt(args, 0)
    return {
      cost: scaled(size, textFactor),
      resultSize: { min: Math.floor(size.min * min), max: size.max * max },
    }
  }
}

export const patternEstimate: Estimate = (args) => {
  const text = scaled(sum(sizeAt(args, 0), fixedRange(1)), textFactor)
  return { cost: product(text, scaled(sizeAt(args, 1), patternFactor)) }
}

export const findingEstimate: Estimate = (args) => ({
  ...patternEstimate(args),
  resultSize: { min: 0, max: sizeAt(args, 0).max },
})

export const containsEstimate: Estimate = (args) => ({
  cost: product(scaled(sizeAt(args, 0), textFactor), scaled(sizeAt(args, 1), textFactor)),
})

/** Estimates comparing every element of a list; text is read while it is compared. */
export const elementsEstimate: Estimate = ([list]) => {
  const size = list?.size ?? unknownSize
  const element = list?.element?.()
  if (!element) return { cost: scaled(size, textFactor) }
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  const each = isText ? sum(fixedRange(1), scaled(element.size, textFactor)) : fixedRange(1)
  return { cost: product(size, each) }
}

export const replaceEstimate: Estimate = (args) => {
  const [size, old, next] = [sizeAt(args, 0), sizeAt(args, 1), sizeAt(args, 2)]
  const longest =
    old.min === 0
      ? { count: size.max + 1, kept: size.max }
      : next.max <= old.min
        ? { count: 0, kept: size.max }
        : { count: Math.ceil(size.max / old.min), kept: 0 }
  const shortest =
    old.max === 0
      ? { count: size.min + 1, kept: size.min }
      : old.max <= next.min
        ? { count: 0, kept: size.min }
        : { count: Math.ceil(size.min / old.max), kept: 0 }
  const replaced = product({ min: shortest.count, max: longest.count }, next)
  return {
    cost: scaled(size, 2 * textFactor),
    resultSize: sum(replaced, { min: shortest.kept, max: longest.kept }),
  }
}

export const splitEstimate: Estimate = (args) => {
  const size = sizeAt(args, 0)
  const parts = args[2]?.literal
  const max = typeof parts === 'bigint' ? Number(parts) : size.max
  return { cost: scaled(size, 2 * textFactor), resultSize: { min: 0, max } }
}

export const joinEstimate: Estimate = (args) => {
  const count = sizeAt(args, 0)
  const element = args[0]?.element?.()
  let size = element ? product(count, element.size) : fixedRange(0)
  if (args.length > 1) {
    const separators = { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) }
    size = sum(size, product(sizeAt(args, 1), separators))
  }
  return { cost: scaled(size, textFactor), resultSize: size }
}
