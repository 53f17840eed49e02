import type { CelType } from '../language/cel-type.ts'
import type { CelValue } from '../language/cel-value.ts'
import type { CallEstimate, FunctionDeclaration, Overload, SizeEstimate } from '../check/library.ts'

interface Extra {
  readonly cost?: (args: readonly CelValue[], result: CelValue) => number
  readonly estimate?: (args: readonly SizeEstimate[]) => CallEstimate
  readonly isCostByName?: boolean
}

type Call = (...args: readonly CelValue[]) => CelValue

interface Signature {
  readonly id: string
  readonly takes: readonly CelType[]
  readonly gives: CelType
}

/** Declares one overload of a function that is called as `name(a, b)`. */
export function plain({ id, takes, gives }: Signature, call: Call, extra: Extra = {}): Overload {
  return { id, parameters: takes, result: gives, call: (args) => call(...args), ...extra }
}

/** Declares one overload of a function that is called as `a.name(b)`. */
export function member(signature: Signature, call: Call, extra: Extra = {}): Overload {
  return { ...plain(signature, call, extra), isMember: true }
}

export function declare(name: string, ...overloads: readonly Overload[]): FunctionDeclaration {
  return { name, overloads }
}
