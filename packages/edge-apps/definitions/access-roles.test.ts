import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accessRoles } from './access-roles.ts'
import { kubeedgeKinds } from '../kubeedge/definitions-table.ts'

test('the roles edit and admin cover applications, but not kinds that set labels and taints of nodes', () => {
  const covered = accessRoles(kubeedgeKinds).map(({ metadata, ...role }) => {
    const rules = role.rules ?? []
    const into = Object.keys(metadata.labels ?? {}).flatMap(
      (key) => /aggregate-to-(.*)$/.exec(key)?.[1] ?? [],
    )
    const isWriting = rules.some(({ verbs }) => verbs.includes('create'))
    return { into, isWriting, covers: rules.flatMap(({ resources = [] }) => resources) }
  })
  assert.deepEqual(covered, [
    { into: ['view'], isWriting: false, covers: ['nodegroups', 'edgeapplications'] },
    { into: ['edit', 'admin'], isWriting: true, covers: ['edgeapplications'] },
    { into: [], isWriting: true, covers: ['nodegroups'] },
  ])
})
