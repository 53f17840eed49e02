import { celTypes, optionalTypeName, type CelType } from '../language/cel-type.ts'

/**
 * Records the types that type parameters stand for, as the checker infers them. A failed query
 * leaves no trace.
 */
export class Substitutions {
  readonly #known = new Map<string, CelType>()
  readonly #trail: { name: string; before: CelType | undefined }[] = []

  /** Returns true if a value of `from` can be used where `to` is required. */
  isAssignable(to: CelType, from: CelType): boolean {
    return this.#attempt(() => this.#assign(to, from))
  }

  areAssignable(to: readonly CelType[], from: readonly CelType[]): boolean {
    return this.#attempt(() => this.#assignAll(to, from))
  }

  /** Replaces every known parameter. Unknown ones stay as they are or become dyn. */
  apply(type: CelType, unknownToDyn = false): CelType {
    switch (type.kind) {
      case 'parameter': {
        const known = this.#known.get(type.name)
        if (known) return this.apply(known, unknownToDyn)
        return unknownToDyn ? celTypes.dyn : type
      }
      case 'list':
        return same(type.element, this.apply(type.element, unknownToDyn), type, (element) => ({
          ...type,
          element,
        }))
      case 'map': {
        const key = this.apply(type.key, unknownToDyn)
        const value = this.apply(type.value, unknownToDyn)
        return key === type.key && value === type.value ? type : { ...type, key, value }
      }
      case 'opaque': {
        if (type.parameters.length === 0) return type
        return { ...type, parameters: type.parameters.map((one) => this.apply(one, unknownToDyn)) }
      }
      case 'type':
        return type.of ? { ...type, of: this.apply(type.of, unknownToDyn) } : type
      default:
        return type
    }
  }

  #attempt(question: () => boolean): boolean {
    const start = this.#trail.length
    if (question()) {
      this.#trail.length = 0
      return true
    }
    for (const { name, before } of this.#trail.splice(start).toReversed()) {
      if (before) this.#known.set(name, before)
      else this.#known.delete(name)
    }
    return false
  }

  #bind(name: string, type: CelType): void {
    this.#trail.push({ name, before: this.#known.get(name) })
    this.#known.set(name, type)
  }

  #assignAll(to: readonly CelType[], from: readonly CelType[]): boolean {
    if (to.length !== from.length) return false
    return to.every((type, at) => this.#assign(type, from[at] ?? celTypes.error))
  }

  #assign(a: CelType, b: CelType): boolean {
    if (b.kind === 'parameter') {
      const answer = this.#substitute(a, b)
      if (answer.isValid || answer.isKnown) return answer.isValid
    }
    if (a.kind === 'parameter') return this.#substitute(b, a).isValid
    if (isDynamic(a) || isDynamic(b)) return true
    if (a.kind === 'null') return isNullable(b)
    if (b.kind === 'null') return isNullable(a)
    if (a.kind === 'type') return b.kind === 'type'
    if (a.kind === 'list' && b.kind === 'list') return this.#assign(a.element, b.element)
    if (a.kind === 'map' && b.kind === 'map') {
      return this.#assign(a.key, b.key) && this.#assign(a.value, b.value)
    }
    if (a.kind === 'opaque' && b.kind === 'opaque') {
      return a.name === b.name && this.#assignAll(a.parameters, b.parameters)
    }
    return equalTypes(a, b)
  }

  #substitute(
    type: CelType,
    parameter: CelType & { kind: 'parameter' },
  ): { isValid: boolean; isKnown: boolean } {
    if (equalTypes(type, parameter)) return { isValid: true, isKnown: true }
    const known = this.#known.get(parameter.name)
    if (known) {
      if (equalTypes(type, known)) return { isValid: true, isKnown: true }
      if (!this.#assign(type, known)) return { isValid: false, isKnown: true }
      const general = mostGeneral(type, known)
      if (!this.#occurs(parameter.name, general)) this.#bind(parameter.name, general)
      return { isValid: true, isKnown: true }
    }
    if (this.#occurs(parameter.name, type)) return { isValid: false, isKnown: false }
    this.#bind(parameter.name, type)
    return { isValid: true, isKnown: false }
  }

  #occurs(name: string, type: CelType): boolean {
    switch (type.kind) {
      case 'parameter': {
        if (type.name === name) return true
        const known = this.#known.get(type.name)
        return known !== undefined && this.#occurs(name, known)
      }
      case 'list':
        return this.#occurs(name, type.element)
      case 'map':
        return this.#occurs(name, type.key) || this.#occurs(name, type.value)
      case 'opaque':
        return type.parameters.some((one) => this.#occurs(name, one))
      case 'type':
        return type.of !== undefined && this.#occurs(name, type.of)
      default:
        return false
    }
  }
}

function same(
  before: CelType,
  after: CelType,
  type: CelType,
  make: (element: CelType) => CelType,
): CelType {
  return before === after ? type : make(after)
}

export function isDynamic({ kind }: CelType): boolean {
  return kind === 'dyn' || kind === 'error'
}

function isNullable({ kind }: CelType): boolean {
  return ['null', 'opaque', 'object', 'duration', 'timestamp', 'dyn'].includes(kind)
}

/** Returns the more general of two types that are known to fit each other. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return isEqualOrWider(a, b) ? a : b
}

function isEqualOrWider(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || a.kind === 'parameter') return true
  if (b.kind === 'dyn' || b.kind === 'parameter') return false
  if (a.kind === 'list' && b.kind === 'list') return isEqualOrWider(a.element, b.element)
  if (a.kind === 'map' && b.kind === 'map') {
    return isEqualOrWider(a.key, b.key) && isEqualOrWider(a.value, b.value)
  }
  if (a.kind === 'opaque' && b.kind === 'opaque') {
    const others = b.parameters
    return (
      a.name === b.name &&
      a.parameters.every((one, at) => isEqualOrWider(one, others[at] ?? celTypes.error))
    )
  }
  return a.kind === 'type' ? b.kind === 'type' : equalTypes(a, b)
}

export function equalTypes(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind === 'list') return b.kind === 'list' && equalTypes(a.element, b.element)
  if (a.kind === 'map') {
    return b.kind === 'map' && equalTypes(a.key, b.key) && equalTypes(a.value, b.value)
  }
  if (a.kind === 'object') return b.kind === 'object' && a.name === b.name
  if (a.kind === 'parameter') return b.kind === 'parameter' && a.name === b.name
  if (a.kind === 'opaque') {
    return (
      b.kind === 'opaque' &&
      a.name === b.name &&
      a.parameters.length === b.parameters.length &&
      a.parameters.every((one, at) => equalTypes(one, b.parameters[at] ?? celTypes.error))
    )
  }
  if (a.kind === 'type') {
    if (b.kind !== 'type') return false
    return a.of && b.of ? equalTypes(a.of, b.of) : a.of === b.of
  }
  return a.kind === b.kind
}

/** Returns T of optional_type(T). */
export function unwrapOptional(type: CelType): CelType | undefined {
  if (type.kind !== 'opaque' || type.name !== optionalTypeName) return undefined
  return type.parameters[0]
}
