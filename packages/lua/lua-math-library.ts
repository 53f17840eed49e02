import type { LuaArguments, LuaLibraryFunction } from './lua-arguments.ts'

function each(compute: (value: number) => number): LuaLibraryFunction {
  return (args) => compute(args.number(0))
}

function ofTwo(compute: (first: number, second: number) => number): LuaLibraryFunction {
  return (args) => compute(args.number(0), args.number(1))
}

function ofAll(choose: (first: number, second: number) => number): LuaLibraryFunction {
  return (args) => {
    let found = args.number(0)
    for (let index = 1; index < args.count; index += 1) found = choose(found, args.number(index))
    return found
  }
}

/** The engine computes a remainder bit by bit; this many bits count as a step. */
const bitsPerStep = 48

function remainder(args: LuaArguments): number {
  const [first, second] = [args.number(0), args.number(1)]
  const bits = Math.log2(Math.abs(first)) - Math.log2(Math.abs(second))
  if (bits > 0 && Number.isFinite(bits)) args.run.step(Math.ceil(bits / bitsPerStep))
  return first % second
}

/** There is no random function, because an interpreter must always give the same answer for an object. */
export const mathFunctions: Readonly<Record<string, LuaLibraryFunction>> = Object.freeze({
  abs: each(Math.abs),
  acos: each(Math.acos),
  asin: each(Math.asin),
  atan: each(Math.atan),
  atan2: ofTwo(Math.atan2),
  ceil: each(Math.ceil),
  cos: each(Math.cos),
  cosh: each(Math.cosh),
  deg: each((value) => (value * 180) / Math.PI),
  exp: each(Math.exp),
  floor: each(Math.floor),
  fmod: remainder,
  log: each(Math.log),
  log10: each(Math.log10),
  max: ofAll((first, second) => (second > first ? second : first)),
  min: ofAll((first, second) => (second < first ? second : first)),
  mod: remainder,
  modf(args: LuaArguments) {
    const value = args.number(0)
    return [Math.trunc(value), value - Math.trunc(value)]
  },
  pow: ofTwo((first, second) => first ** second),
  rad: each((value) => (value * Math.PI) / 180),
  sin: each(Math.sin),
  sinh: each(Math.sinh),
  sqrt: each(Math.sqrt),
  tan: each(Math.tan),
  tanh: each(Math.tanh),
})
