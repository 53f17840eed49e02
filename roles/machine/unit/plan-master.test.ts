import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planMaster, type MasterStep } from './plan-master.ts'

type View = Parameters<typeof planMaster>[0]

const masterJoin = { server: 'https://10.0.0.2:6443', token: 'newer', caHash: 'sha256:a' }
const released = { generation: 5, phase: 'released', content: 'a' } as const
const recalled = { generation: 6, phase: 'recalled' } as const
const own = { generation: 7, phase: 'own' } as const
const away = { generation: 0, phase: 'empty' } as const
const open = { generation: 5, phase: 'open', content: 'a' } as const
const fresh = { state: { record: away }, serves: false, isVoter: false, token: undefined }
const joined = {
  state: { record: away, joined: { generation: 5 } },
  serves: true,
  isVoter: true,
  token: undefined,
}
const joining = { ...joined, serves: false, isVoter: false, token: 'older' }
const speaker = { ...fresh, state: { record: open }, serves: true, isVoter: true }

const table: readonly [title: string, view: View, step: MasterStep][] = [
  [
    'joins once it is asked and knows the way',
    { ...fresh, order: { parent: released, master: 'runs', masterJoin } },
    { act: 'join', generation: 5 },
  ],
  ['waits for the way', { ...fresh, order: { parent: released, master: 'runs' } }, { act: 'none' }],
  [
    'uses a newer token while it does not serve',
    { ...joining, order: { parent: released, master: 'runs', masterJoin } },
    { act: 'join', generation: 5 },
  ],
  [
    'needs no token once it serves',
    { ...joined, order: { parent: released, master: 'runs', masterJoin } },
    { act: 'none' },
  ],
  [
    'with a vote goes on until the others are without it',
    { ...joined, order: { parent: recalled, master: 'ends' } },
    { act: 'none' },
  ],
  [
    'without a vote leaves at once, or would join again and again',
    { ...joining, order: { parent: recalled, master: 'ends' } },
    { act: 'quit' },
  ],
  ['stops when the unit is sealed', { ...joined, order: { parent: recalled } }, { act: 'drop' }],
  ['stops when its parent acts', { ...joined, order: { parent: own } }, { act: 'drop' }],
  [
    'begins again if the unit was sealed and released meanwhile',
    { ...joined, order: { parent: { ...released, generation: 7 }, master: 'runs', masterJoin } },
    { act: 'drop' },
  ],
  [
    'speaks for the unit if it is told to',
    { ...joined, order: { parent: recalled, isServer: true } },
    { act: 'promote', generation: 5 },
  ],
  [
    'does not speak for a unit that was sealed since',
    { ...joined, order: { parent: { ...released, generation: 7 }, isServer: true } },
    { act: 'drop' },
  ],
  [
    'that was silent goes on behind the one that speaks now',
    { ...speaker, order: { parent: released, master: 'runs' } },
    { act: 'demote', generation: 5 },
  ],
  [
    'that was given up as lost stops',
    { ...speaker, order: { parent: own } },
    { act: 'end', generation: 7 },
  ],
  [
    'that speaks goes on',
    { ...speaker, order: { parent: released, isServer: true } },
    { act: 'none' },
  ],
]

for (const [title, view, step] of table) {
  test(`a server of a unit ${title}`, () => {
    assert.deepEqual(planMaster(view), step)
  })
}
