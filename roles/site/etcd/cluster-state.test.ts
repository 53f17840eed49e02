import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EtcdMember, EtcdMemberStatus } from '@skerry/store'
import { clusterState } from './cluster-state.ts'
import { removalFault } from './removal-fault.ts'

const three = ['1', '2', '3'].map((id) => member(id))

function member(id: string, isLearner = false): EtcdMember {
  const urls = {
    peerUrls: [`https://10.0.0.${id}:2380`],
    clientUrls: [`https://10.0.0.${id}:2379`],
  }
  return { id, name: `master-${id}`, ...urls, isLearner }
}

function answer(memberId: string, leaderId?: string, errors: string[] = []): EtcdMemberStatus {
  const sizes = { dbSizeBytes: 20_480, dbInUseBytes: 16_384 }
  return { memberId, version: '3.5.16', ...sizes, leaderId, revision: 7, errors, isLearner: false }
}

const states: readonly {
  readonly members?: readonly EtcdMember[]
  readonly answers: readonly (EtcdMemberStatus | undefined)[]
  readonly text: string
}[] = [
  {
    answers: [answer('1', '2'), answer('2', '2'), answer('3', '2')],
    text: 'quorum: 3 of 3 members answer',
  },
  {
    answers: [answer('1', '2'), answer('2', '2'), undefined],
    text: 'quorum: 2 of 3 members answer; silent: master-3',
  },
  {
    answers: [answer('1'), undefined, undefined],
    text: 'quorum lost: 1 of 3 members answer; silent: master-2, master-3',
  },
  {
    // It has not noticed yet that the others are gone.
    answers: [answer('1', '1'), undefined, undefined],
    text: 'quorum lost: 1 of 3 members answer; silent: master-2, master-3',
  },
  {
    answers: [answer('1'), answer('2'), undefined],
    text: 'no leader: 2 of 3 members answer, and they have not elected one yet',
  },
  {
    members: [member('1'), member('2', true)],
    answers: [answer('1', '1'), undefined],
    text: 'quorum: 1 of 1 members answer',
  },
  {
    answers: [answer('1', '1', ['alarm:NOSPACE']), answer('2', '1'), answer('3', '1')],
    text: 'quorum: 3 of 3 members answer; master-1: alarm:NOSPACE',
  },
]

for (const { members = three, answers, text } of states) {
  test(`members are in the state "${text}" (${answers.map((each) => each?.leaderId ?? '-').join()})`, () => {
    assert.equal(clusterState(members, answers).text, text)
  })
}

test('the leader is the member that names itself, whatever one that is cut off says', () => {
  const answers = [answer('1', '3'), answer('2', '2'), { ...answer('3'), leaderId: undefined }]
  const { members } = clusterState(three, answers)
  assert.deepEqual(
    members.filter(({ isLeader }) => isLeader).map(({ id }) => id),
    ['2'],
  )
})

const removals: readonly {
  readonly title: string
  /** The leader that each member names; undefined is silence. */
  readonly leaders: readonly (string | undefined)[]
  readonly id: string
  readonly expected?: RegExp
}[] = [
  { title: 'a dead member of three is removed', leaders: ['2', '2', undefined], id: '3' },
  { title: 'a living member of three is removed', leaders: ['2', '2', '2'], id: '1' },
  {
    title: 'a living member while another is dead is not removed',
    leaders: ['2', '2', undefined],
    id: '1',
    expected: /remove or start master-3 first/,
  },
  {
    title: 'without a quorum no member is removed',
    leaders: ['', undefined, undefined],
    id: '3',
    expected: /skerry site recover/,
  },
]

for (const { title, leaders, id, expected } of removals) {
  test(title, () => {
    const answers = leaders.map((leader, at) =>
      leader === undefined ? undefined : answer(String(at + 1), leader || undefined),
    )
    const state = clusterState(three, answers)
    const member = state.members.find((each) => each.id === id)
    assert.ok(member)
    const fault = removalFault(state, member)
    if (expected === undefined) assert.equal(fault, undefined)
    else assert.match(fault ?? '', expected)
  })
}

test('the only member is not removed', () => {
  const state = clusterState([member('1')], [answer('1', '1')])
  const [only] = state.members
  assert.ok(only)
  assert.match(removalFault(state, only) ?? '', /the only one/)
})
