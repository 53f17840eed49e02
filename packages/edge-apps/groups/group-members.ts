import {
  labelSelectorOf,
  StatusError,
  type LabelSelector,
  type LabelSelectorFields,
  type Node,
} from '@skerry/api'

/** The nodes of a group, by name or by their labels. */
export interface Membership {
  /** Names of nodes; those that do not exist are not an error. */
  readonly nodes?: readonly string[]
  readonly selector?: LabelSelectorFields
}

/** Returns a test for nodes. A selector without requirements selects none, and so does one that cannot be read. */
export function memberTest({ nodes = [], selector = {} }: Membership): (node: Node) => boolean {
  const named = new Set(nodes)
  const parsed = readSelector(selector)
  return ({ metadata: { name = '', labels } }) =>
    named.has(name) || (!('message' in parsed) && !parsed.isEmpty && parsed.matches(labels))
}

/** Returns the reason why a selector cannot be read, if there is one. */
export function selectorFault(selector: LabelSelectorFields | undefined): string | undefined {
  const parsed = readSelector(selector ?? {})
  return 'message' in parsed ? parsed.message : undefined
}

function readSelector(selector: LabelSelectorFields): LabelSelector | StatusError {
  try {
    return labelSelectorOf(selector)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return error
  }
}
