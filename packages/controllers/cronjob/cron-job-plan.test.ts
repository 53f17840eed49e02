import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronJob, CronJobSpec, CronJobStatus, Job } from '@skerry/api'
import { planCronJob } from './cron-job-plan.ts'
import { isTimeZone, parseSchedule } from './schedule.ts'

const iso = (text: string): number => Date.parse(`2026-${text}Z`)
const time = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(5, 19)

const nexts: [string, string | undefined, string, string | undefined][] = [
  ['*/5 * * * *', 'UTC', '01-01T00:03:00', '01-01T00:05:00'],
  ['0 9 * * *', 'Europe/Berlin', '01-01T00:00:00', '01-01T08:00:00'],
  ['0 9 * * *', 'Europe/Berlin', '07-01T00:00:00', '07-01T07:00:00'],
  ['@hourly', 'UTC', '01-01T00:03:00', '01-01T01:00:00'],
  ['@every 90m', undefined, '01-01T00:03:00', '01-01T01:33:00'],
  ['0 0 13 * 5', 'UTC', '01-01T12:00:00', '01-02T00:00:00'],
  ['0 0 31 2 *', 'UTC', '01-01T00:00:00', undefined],
]
for (const [text, zone, from, expected] of nexts) {
  test(`"${text}" in ${zone ?? 'any zone'} after ${from} is due at ${expected ?? 'no time'}`, () => {
    assert.equal(time(parseSchedule(text, zone).next(iso(from))), expected)
  })
}

test('invalid schedules and invalid zones are distinguished', () => {
  for (const text of ['', '* * * *', '61 * * * *', '* * * * * *', '@every 5x', '@sometimes']) {
    assert.throws(() => parseSchedule(text, 'UTC'), Error, text)
  }
  assert.ok(isTimeZone('Asia/Kolkata'))
  assert.ok(!isTimeZone('Mars/Olympus'))
})

const nowMs = iso('01-01T12:00:30')

function cronJob(spec: Partial<CronJobSpec>, status: CronJobStatus = {}): CronJob {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      name: 'tick',
      namespace: 'a',
      uid: 'c',
      creationTimestamp: '2026-01-01T11:58:30Z',
    },
    spec: { schedule: '* * * * *', timeZone: 'UTC', jobTemplate: {}, ...spec },
    status,
  }
}

function job(name: string, condition?: 'Complete' | 'Failed', at = '11:00:00'): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'a', uid: name },
    status: {
      startTime: `2026-01-01T${at}Z`,
      ...(condition ? { conditions: [{ type: condition, status: 'True' }] } : {}),
      ...(condition === 'Complete' ? { completionTime: `2026-01-01T${at}Z` } : {}),
    },
  }
}

const active = { active: [{ name: 'one', uid: 'one' }] }

function plan(given: CronJob, jobs: readonly Job[] = [], atMs = nowMs) {
  const schedule = parseSchedule(given.spec?.schedule ?? '', given.spec?.timeZone)
  const { create, remove, events, requeueAfterMs, status } = planCronJob({
    cronJob: given,
    jobs,
    schedule,
    nowMs: atMs,
  })
  return {
    create: create?.job.metadata.name,
    remove: remove.map(({ metadata }) => metadata.name),
    events: events.map(({ reason }) => reason),
    requeueAfterMs,
    status,
  }
}

test('of several missed times only the newest is started, and the next look is at the next time', () => {
  const { create, events, requeueAfterMs } = plan(cronJob({}))
  assert.equal(create, `tick-${iso('01-01T12:00:00') / 60_000}`)
  assert.deepEqual(events, [])
  assert.equal(requeueAfterMs, 30_100)
})

test('a time that was started is not started again', () => {
  assert.equal(plan(cronJob({}, { lastScheduleTime: '2026-01-01T12:00:00Z' })).create, undefined)
})

test('a start that comes after its deadline is reported and left out', () => {
  const late = plan(cronJob({ schedule: '0 12 * * *', startingDeadlineSeconds: 20 }))
  assert.equal(late.create, undefined)
  const inTime = plan(cronJob({ schedule: '0 12 * * *', startingDeadlineSeconds: 60 }))
  assert.ok(inTime.create)
})

test('more than a hundred missed times are reported', () => {
  const old = cronJob({}, { lastScheduleTime: '2026-01-01T01:00:00Z' })
  assert.deepEqual(plan(old).events, ['TooManyMissedTimes'])
})

test('the concurrency policy decides about a job that still runs', () => {
  const running = [job('one')]
  const allowed = plan(cronJob({ concurrencyPolicy: 'Allow' }, active), running)
  assert.ok(allowed.create)
  assert.deepEqual(allowed.remove, [])
  const forbidden = plan(cronJob({ concurrencyPolicy: 'Forbid' }, active), running)
  assert.equal(forbidden.create, undefined)
  assert.deepEqual(forbidden.events, ['JobAlreadyActive'])
  const replaced = plan(cronJob({ concurrencyPolicy: 'Replace' }, active), running)
  assert.ok(replaced.create)
  assert.deepEqual(replaced.remove, ['one'])
  assert.deepEqual(replaced.status.active, [])
})

test('finished jobs leave the active list, and the last success is remembered', () => {
  const { events, status } = plan(cronJob({ suspend: true }, active), [job('one', 'Complete')])
  assert.deepEqual(events, ['SawCompletedJob'])
  assert.deepEqual(status.active, [])
  assert.equal(status.lastSuccessfulTime, '2026-01-01T11:00:00Z')
})

test('an active job that is missing is reported', () => {
  assert.deepEqual(plan(cronJob({ suspend: true }, active)).events, ['MissingJob'])
})

test('finished jobs beyond the history limits are deleted, the oldest first', () => {
  const jobs = [
    job('c', 'Complete', '11:03:00'),
    job('a', 'Complete', '11:01:00'),
    job('b', 'Complete', '11:02:00'),
    job('x', 'Failed', '11:01:00'),
    job('y', 'Failed', '11:02:00'),
  ]
  const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0, suspend: true }
  assert.deepEqual(plan(cronJob(limits), jobs).remove, ['a', 'b', 'x', 'y'])
})

test('a suspended cron job starts nothing and does not look again by itself', () => {
  const { create, requeueAfterMs } = plan(cronJob({ suspend: true }))
  assert.deepEqual([create, requeueAfterMs], [undefined, undefined])
})

test('a cron job that ran while the clock was years ahead goes on at its next time', () => {
  for (const lastScheduleTime of [
    '2026-01-02T12:00:00Z',
    '2028-01-01T12:00:00Z',
    '2037-01-01T00:00:00Z',
  ]) {
    const back = plan(cronJob({}, { lastScheduleTime }))
    assert.equal(back.create, undefined, 'a time before the clock was set back is not run again')
    assert.equal(back.status.lastScheduleTime, '2026-01-01T12:00:30Z')
    assert.equal(back.requeueAfterMs, 30_100)
    const next = plan(cronJob({}, back.status), [], nowMs + 30_100)
    assert.equal(next.create, `tick-${iso('01-01T12:01:00') / 60_000}`)
  }
})

test('a cron job that was created while the clock was years ahead begins at its next time', () => {
  const made = cronJob({})
  const early = {
    ...made,
    metadata: { ...made.metadata, creationTimestamp: '2028-01-01T00:00:00Z' },
  }
  const { status, create } = plan(early)
  assert.deepEqual([create, status.lastScheduleTime], [undefined, '2026-01-01T12:00:30Z'])
  assert.ok(plan({ ...early, status }, [], nowMs + 30_100).create)
})

test('a clock that goes back by less than three hours repeats nothing', () => {
  const { create, status } = plan(cronJob({}, { lastScheduleTime: '2026-01-01T14:00:00Z' }))
  assert.deepEqual([create, status.lastScheduleTime], [undefined, '2026-01-01T14:00:00Z'])
})

test('a clock that goes ahead by years starts one job, not one for each missed time', () => {
  const ahead = plan(cronJob({}, { lastScheduleTime: '2015-01-01T12:00:00Z' }))
  assert.equal(ahead.create, `tick-${iso('01-01T12:00:00') / 60_000}`)
  const after = plan(cronJob({}, { lastScheduleTime: '2026-01-01T12:00:00Z' }))
  assert.equal(after.create, undefined)
})
