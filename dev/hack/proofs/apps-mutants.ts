import type { Mutant } from './mutant.ts'

/** The mutants of promises about applications in many places. */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'the child of a vanished group is kept for the grace time, and goes on when the group is back',
    test: 'packages/edge-apps/superedge/workload-grids.test.ts',
    only: 'the child of a vanished group',
    file: 'packages/edge-apps/children/child-plan.ts',
    find: 'if (group === undefined || endMs <= view.nowMs) {',
    replace: 'if (group === undefined || endMs >= view.nowMs) {',
  },
  {
    proof: 'a node that leaves its set is as it was before',
    test: 'packages/edge-apps/nodes/node-settings.test.ts',
    file: 'packages/edge-apps/nodes/node-settings.ts',
    find: 'kept[key] = isNothing ? { to } : { to, was: before }',
    replace: 'kept[key] = isNothing ? { to } : { to }',
  },
  {
    proof: 'an application makes nothing that the role edit could not make',
    test: 'packages/edge-apps/kubeedge/edge-application.test.ts',
    only: 'an application makes nothing',
    file: 'packages/edge-apps/kubeedge/application-children.ts',
    find: 'if (namespace === undefined || namespace === app.metadata.namespace) return undefined',
    replace: 'if (namespace !== app.metadata.namespace) return undefined',
  },
  {
    proof:
      'definitions go with the option, but not those of kinds that have an object, nor those of others',
    test: 'packages/edge-apps/definitions/install-definitions.test.ts',
    file: 'packages/edge-apps/definitions/install-definitions.ts',
    find: 'if (kept.length > 0) {',
    replace: 'if (kept.length > 1) {',
  },
]
