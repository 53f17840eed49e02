import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diskFullError, isDiskFull } from './disk-full.ts'
import { exitCodes } from './expected-error.ts'

const fault = (code: string): Error => Object.assign(new Error(`${code}: write`), { code })
const ofSqlite = (errcode: number): Error => Object.assign(new Error('SQLite'), { errcode })

test('a full disk is recognized in every form of the error, however deep it lies', () => {
  const full: readonly unknown[] = [
    fault('ENOSPC'),
    fault('EDQUOT'),
    ofSqlite(13),
    new Error('outer', { cause: new Error('inner', { cause: fault('ENOSPC') }) }),
    new SuppressedError(new Error('while closing'), fault('ENOSPC')),
    new SuppressedError(ofSqlite(13), new Error('before')),
  ]
  for (const error of full) assert.equal(isDiskFull(error), true, String(error))
  const endless = new Error('its own cause')
  endless.cause = endless
  const others: readonly unknown[] = [fault('ENOENT'), ofSqlite(14), endless, 'ENOSPC', undefined]
  for (const error of others) assert.equal(isDiskFull(error), false, String(error))
})

test('a full disk is reported in one line with its path and remedy, and has an exit code of its own', () => {
  const { message, exitCode } = diskFullError('back up to /mnt/usb/site.db', fault('ENOSPC'))
  assert.match(message, /^Cannot back up to \/mnt\/usb\/site\.db: no space.*free some.*$/)
  assert.equal(exitCode, exitCodes.diskFull)
})
