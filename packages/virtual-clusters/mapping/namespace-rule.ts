import { createHash } from 'node:crypto'
import { MappingRefusal } from '@skerry/cluster-agent'
import type { NamespaceRule } from '@skerry/fleet-kinds'
import { virtualClusterBounds } from '../limits-table.ts'

export interface NamespaceRuleOptions {
  readonly clusterName: string
  /**
   * A template with `{namespace}` and `{cluster}` in either order, a dash between them, and letters, digits
   * and dashes around. An edge cluster has one pattern: with two, two clusters could map to one namespace.
   */
  readonly pattern?: string
}

const defaultNamespacePattern = '{namespace}-{cluster}'

const { namespaceCharsMax } = virtualClusterBounds.namespaceRule
const hashChars = 16
const patternForm =
  /^(?<before>[a-z0-9-]*)\{(?<first>namespace|cluster)\}-\{(?<second>namespace|cluster)\}(?<after>[a-z0-9-]*)$/
const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/**
 * Creates the rule that names a virtual cluster's namespaces in the edge cluster: `edge` becomes `edge-east`.
 * Dashes of the namespace are doubled, so `my-app` becomes `my--app-east`: this marks where the namespace
 * ends, and no two clusters ever share a name. A name longer than 63 characters is cut and ends in three
 * dashes and a hash of both names. Throws RangeError for an invalid pattern or cluster name.
 */
export function createNamespaceRule({
  clusterName,
  pattern = defaultNamespacePattern,
}: NamespaceRuleOptions): NamespaceRule {
  const { before, after, isNamespaceFirst } = parsePattern(pattern)
  if (!label.test(clusterName)) {
    throw new RangeError(`Cannot map namespaces of cluster "${clusterName}": it is not a DNS label`)
  }
  return {
    toMember(namespace) {
      refuseReserved(namespace)
      const doubled = namespace.replaceAll('-', '--')
      const core = isNamespaceFirst ? `${doubled}-${clusterName}` : `${clusterName}-${doubled}`
      const whole = `${before}${core}${after}`
      const name =
        whole.length <= namespaceCharsMax
          ? whole
          : `${before}${cutCore(namespace, clusterName, before.length + after.length)}${after}`
      if (name.startsWith('kube-')) {
        throw new MappingRefusal(
          `namespace "${namespace}" would be "${name}" in the edge cluster, and names that begin with "kube-" are Kubernetes' own: choose another pattern`,
        )
      }
      return name
    },
  }
}

function parsePattern(pattern: string) {
  const { before = '', first, second, after = '' } = patternForm.exec(pattern)?.groups ?? {}
  const isWhole = first !== undefined && first !== second
  const fits = before.length + after.length <= namespaceCharsMax - hashChars - 4
  if (isWhole && fits && label.test(`${before}x${after}`)) {
    return { before, after, isNamespaceFirst: first === 'namespace' }
  }
  throw new RangeError(
    `Cannot map namespaces by "${pattern}": it needs {namespace} and {cluster} with a dash between them, and has at most ${namespaceCharsMax - hashChars - 4} other characters`,
  )
}

/** Refuses names that begin with `kube-`, which Kubernetes reserves; no virtual cluster has its own. */
function refuseReserved(namespace: string): void {
  if (namespace.startsWith('kube-')) {
    throw new MappingRefusal(
      `namespace "${namespace}" is the edge cluster's own: a virtual cluster has no namespace that begins with "kube-"`,
    )
  }
  if (!label.test(namespace) || namespace.length > namespaceCharsMax) {
    throw new MappingRefusal(`namespace "${namespace}" is not a DNS label of at most 63 characters`)
  }
}

/** Cuts a name. Three dashes never occur in a name that was not cut: there only double and single ones do. */
function cutCore(namespace: string, clusterName: string, aroundChars: number): string {
  const digest = createHash('sha256').update(`${namespace}/${clusterName}`).digest('hex')
  const room = namespaceCharsMax - hashChars - 3 - aroundChars
  const start = namespace.replaceAll('-', '--').slice(0, room).replace(/-+$/, '')
  return `${start}---${digest.slice(0, hashChars)}`
}
