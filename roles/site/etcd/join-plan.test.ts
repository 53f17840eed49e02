import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EtcdMember } from '@skerry/store'
import { initialClusterOf, nameToJoin, nextJoinStep, type Joiner } from './join-plan.ts'

const one = member('1', 'master-1', '10.0.0.1')
const two = member('2', 'master-2', '10.0.0.2')
const joiner: Joiner = { name: 'master-3', peerUrl: 'https://10.0.0.3:2380', hasData: false }

function member(id: string, name: string, address: string, isLearner = false): EtcdMember {
  const peerUrls = [`https://${address}:2380`]
  return {
    id,
    name,
    peerUrls,
    clientUrls: name === '' ? [] : [`https://${address}:2379`],
    isLearner,
  }
}

const steps: readonly {
  readonly title: string
  readonly members: readonly EtcdMember[]
  readonly joiner?: Partial<Joiner>
  readonly expected: string
}[] = [
  { title: 'a new master is added', members: [one, two], expected: 'add' },
  {
    title: 'a master that was added and never started is started',
    members: [one, member('3', '', '10.0.0.3', true)],
    joiner: { memberId: '3' },
    expected: 'start 3',
  },
  {
    title: 'a learner that was killed goes on with its data',
    members: [one, member('3', 'master-3', '10.0.0.3', true)],
    joiner: { memberId: '3', hasData: true },
    expected: 'start 3',
  },
  {
    title: 'a learner whose data is gone is removed before it is added again',
    members: [one, member('3', 'master-3', '10.0.0.3', true)],
    joiner: { memberId: '3' },
    expected: 'remove 3',
  },
  {
    title: 'a learner of its own that it does not remember is removed',
    members: [one, member('9', '', '10.0.0.3', true)],
    expected: 'remove 9',
  },
  {
    title: 'a member whose data is gone may not begin again under the same vote',
    members: [one, two, member('3', 'master-3', '10.0.0.3')],
    joiner: { memberId: '3' },
    expected: 'refuse',
  },
  {
    title: 'a member whose data is gone replaces itself when it is told to',
    members: [one, two, member('3', 'master-3', '10.0.0.3')],
    joiner: { memberId: '3', replaces: 'master-3' },
    expected: 'remove 3',
  },
  {
    title: 'a dead member is removed before another takes its place',
    members: [one, two],
    joiner: { replaces: 'master-2' },
    expected: 'remove 2 if it is silent',
  },
  {
    title: 'a machine with the address of a member says whose place it takes',
    members: [one, member('3', 'old', '10.0.0.3')],
    expected: 'refuse',
  },
  {
    title: 'a machine with the name of a member at another address is refused',
    members: [one, member('7', 'master-3', '10.0.0.7')],
    expected: 'refuse',
  },
  {
    title: 'another master that joins at the same time is left alone',
    members: [one, member('8', '', '10.0.0.8', true)],
    expected: 'add',
  },
]

for (const { title, members, joiner: more, expected } of steps) {
  test(title, () => {
    const step = nextJoinStep(members, { ...joiner, ...more })
    const which = 'member' in step ? ` ${step.member.id}` : ''
    const silent = 'mustBeSilent' in step && step.mustBeSilent ? ' if it is silent' : ''
    assert.equal(`${step.does}${which}${silent}`, expected)
  })
}

test('a second witness is refused with the option by which a witness gets another name', () => {
  const step = nextJoinStep([one, member('7', 'witness', '10.0.0.7')], {
    ...joiner,
    name: 'witness',
  })
  assert.match(
    step.does === 'refuse' ? step.why : step.does,
    /; pass --name, or --replaces witness/,
  )
})

test('each member has a name of its own at the first start of a further one', () => {
  const members = [one, member('8', '', '10.0.0.8', true), member('3', '', '10.0.0.3', true)]
  assert.equal(
    initialClusterOf(members, { id: '3', name: 'master-3' }),
    'master-1=https://10.0.0.1:2380,member-8=https://10.0.0.8:2380,master-3=https://10.0.0.3:2380',
  )
})

test('a join that was refused for its name may go on under another one, until it is a member', () => {
  const begun = { name: 'taken' }
  assert.equal(nameToJoin(begun, 'free'), 'free')
  assert.equal(nameToJoin({ ...begun, memberId: '7' }, 'free'), 'taken')
})
