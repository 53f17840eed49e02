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
  {
    proof:
      'an object that one of several masters has fenced is written by no other, though that one has not heard of it',
    test: 'roles/site/units/unit-fence.test.ts',
    only: 'an object that one of several masters has fenced',
    file: 'roles/site/units/unit-fence.ts',
    find: 'const companions = this.#isShared ? [epoch] : []',
    replace: 'const companions = this.#isShared && hold.nodes.length > 1 ? [epoch] : []',
  },
  {
    proof:
      'of three servers, the one that has sealed speaks for the unit, and the others go on until then',
    test: 'roles/site/units/handover-acts.test.ts',
    only: 'of three servers',
    file: 'roles/site/units/handover-acts.ts',
    find: "if (phase === 'recalled' && !this.#isSealed(unit)) return { master: 'ends' }",
    replace: "if (phase === 'recalled' && this.#isSealed(unit)) return { master: 'ends' }",
  },
]
