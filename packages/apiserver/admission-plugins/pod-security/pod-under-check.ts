import type { Container, EphemeralContainer, PodSpec, SecurityContext } from '@skerry/api'

/** A pod, or the pod that a template makes. */
export interface PodUnderCheck {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpec
}

/** A violation, in the words of Pod Security admission. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

export type FindViolation = (pod: PodUnderCheck) => Violation | undefined

export type AnyContainer = Container | EphemeralContainer

/** Lists the containers in upstream's order, which is the order of the names in messages. */
export function containersOf(spec: PodSpec): AnyContainer[] {
  return [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ]
}

/** Returns the names of the containers that match. */
export function named(
  spec: PodSpec,
  isBad: (context: SecurityContext, container: AnyContainer) => boolean,
): string[] {
  return containersOf(spec)
    .filter((container) => isBad(container.securityContext ?? {}, container))
    .map(({ name }) => name)
}

/** Formats names with their noun: `container "a"`, `containers "a", "b"`. */
export function plural(word: string, names: readonly string[]): string {
  return `${pluralWord(word, names.length)} ${quoted(names)}`
}

export function pluralWord(word: string, count: number): string {
  return count === 1 ? word : `${word}s`
}

/** Lists the parts that set a value: `pod`, `container "a"`, or both. */
export function setters(isPod: boolean, containers: readonly string[]): string[] {
  const ofContainers = containers.length > 0 ? [plural('container', containers)] : []
  return [...(isPod ? ['pod'] : []), ...ofContainers]
}

export function sortedQuotes(texts: Iterable<string>): string {
  return quoted([...new Set(texts)].sort())
}

/** Upstream escapes nothing here. */
function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ')
}
