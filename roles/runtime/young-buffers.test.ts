import assert from 'node:assert/strict'
import { test } from 'node:test'
import { youngBuffers } from './young-buffers.ts'

const megabyte = 1024 * 1024

test('dead buffers are collected for each 8 MiB that passed, and not for small requests', () => {
  let collected = 0
  const passed = youngBuffers(() => void (collected += 1))
  for (let at = 0; at < 1_000; at += 1) passed?.(1_000)
  assert.equal(collected, 0, 'a thousand small requests')
  for (let at = 0; at < 64; at += 1) passed?.(megabyte)
  assert.equal(collected, 8, '64 MiB')
})
