import type { NamespaceCondition } from '@skerry/api'
import { timestamp } from '../status/timestamp.ts'

/** The result of one pass over a namespace's content. */
export interface DeletionReport {
  /** Group versions whose server did not answer, as `group/version`. */
  readonly undiscovered: readonly string[]
  readonly failures: readonly string[]
  /** The number of remaining objects by `resource.group`. */
  readonly remaining: ReadonlyMap<string, number>
  /** The number of objects that wait for each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

interface ConditionRule {
  type: string
  ok: { reason: string; message: string }
  /** Returns the problem, or undefined if there is none. */
  problem: (report: DeletionReport) => { reason: string; message: string } | undefined
}

const rules: readonly ConditionRule[] = Object.freeze<ConditionRule[]>([
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    ok: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    problem: ({ undiscovered }) =>
      undiscovered.length === 0
        ? undefined
        : {
            reason: 'DiscoveryFailed',
            message: `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${undiscovered.join(', ')}: stale GroupVersion discovery`,
          },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    ok: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    problem: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    ok: {
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    problem: ({ failures }) =>
      failures.length === 0
        ? undefined
        : {
            reason: 'ContentDeletionFailed',
            message: `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
          },
  },
  {
    type: 'NamespaceContentRemaining',
    ok: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    problem: ({ remaining }) =>
      remaining.size === 0
        ? undefined
        : {
            reason: 'SomeResourcesRemain',
            message: `Some resources are remaining: ${listed(remaining, (name, count) => `${name} has ${count} resource instances`)}`,
          },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    ok: {
      reason: 'ContentHasNoFinalizers',
      message: 'All content-preserving finalizers finished',
    },
    problem: ({ finalizers }) =>
      finalizers.size === 0
        ? undefined
        : {
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${listed(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
          },
  },
])

function listed(
  counts: ReadonlyMap<string, number>,
  text: (name: string, count: number) => string,
): string {
  return [...counts]
    .map(([name, count]) => text(name, count))
    .toSorted()
    .join(', ')
}

/** Returns the known conditions, updated by this report. */
export function namespaceConditions(
  known: readonly NamespaceCondition[],
  report: DeletionReport,
  nowMs: number,
): NamespaceCondition[] {
  const next = [...known]
  for (const { type, ok, problem } of rules) {
    const found = problem(report)
    const status = found ? 'True' : 'False'
    const position = next.findIndex((condition) => condition.type === type)
    const before = next[position]
    const lastTransitionTime =
      before?.status === status && before.lastTransitionTime
        ? before.lastTransitionTime
        : timestamp(nowMs)
    const condition = { type, status, ...(found ?? ok), lastTransitionTime }
    if (position === -1) next.push(condition)
    else next[position] = condition
  }
  return next
}
