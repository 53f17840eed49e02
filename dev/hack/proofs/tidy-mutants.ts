import type { Mutant } from './mutant.ts'

/** The mutants of promises of STYLE.md and ARCHITECTURE.md about the sources themselves. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'packages import only lower levels, and only through their door',
    test: 'tidy.test.ts',
    file: 'packages/base/give-way.ts',
    find: 'export function giveWay',
    replace: `import type {} from '@skerry/api'
export function giveWay`,
  },
  {
    proof: 'each package has a door that says what it does',
    test: 'tidy.test.ts',
    file: 'packages/pki/mod.ts',
    find: `/**
 * pki: `,
    replace: `/*
 * pki: `,
  },
  {
    proof:
      'every name of a door is imported by somebody outside the package, and no door has more than 120',
    test: 'tidy.test.ts',
    file: 'packages/api/mod.ts',
    find: `export { localPath } from`,
    replace: `export { localPath, unknown } from`,
  },
  {
    proof: 'no folder imports another one in a circle',
    test: 'tidy.test.ts',
    file: 'packages/kubelet/pod/pod-paths.ts',
    find: `import { readdir } from 'node:fs/promises'`,
    replace: `import { readdir } from 'node:fs/promises'
import '../plan/plan-pod.ts'`,
  },
  {
    proof: 'every export is used outside its file, and not by tests alone',
    test: 'tidy.test.ts',
    file: 'packages/kubelet/mounts/mount-points.ts',
    find: 'function unescaped(',
    replace: 'export function unescaped(',
  },
  {
    proof: 'imports from outside a package go through its door, but for listed files',
    test: 'tidy.test.ts',
    file: 'dev/hack/generate-karmada.ts',
    find: `import { isJsonObject, type CustomResourceDefinition } from '@skerry/api'`,
    replace: `import type { CustomResourceDefinition } from '@skerry/api'
import { isJsonObject } from '../../packages/api/json.ts'`,
  },
  {
    proof: 'packages that describe kinds are pure: no node: imports',
    test: 'tidy.test.ts',
    file: 'packages/kinds/columns/column.ts',
    find: `import {
  StatusError,`,
    replace: `import 'node:fs'
import {
  StatusError,`,
  },
  {
    proof: 'file names say what is in them',
    test: 'tidy.test.ts',
    file: 'packages/base/message-of.ts',
    find: 'export function messageOf',
    replace: 'export function messageOf',
    movedTo: 'packages/base/helpers.ts',
  },
  {
    proof: 'no banned names in declarations',
    test: 'tidy.test.ts',
    file: 'packages/base/message-of.ts',
    find: 'export function messageOf',
    // In two parts, because the rule holds for this file as well.
    replace: `export function message${'Helper'}`,
  },
  {
    proof: 'thrown values become errors and texts in one place',
    test: 'tidy.test.ts',
    file: 'packages/base/backoff.ts',
    find: 'export function createBackoff',
    // In two parts, because the rule holds for this file as well.
    replace: `export const why = (error: unknown): string =>
  error instanceof ${'Error'} ? error.message : String(error)
export function createBackoff`,
  },
  {
    proof: 'no error is judged by its text',
    test: 'tidy.test.ts',
    file: 'packages/base/disk-full.ts',
    find: 'export function isDiskFull',
    // In two parts, because the rule holds for this file as well.
    replace: `export function isFull(error: Error): boolean {
  return error.message${'.includes'}('no space left')
}

export function isDiskFull`,
  },
  {
    proof: 'bounds stand in the table of their package',
    test: 'tidy.test.ts',
    file: 'packages/tunnel/traffic/rate-limit.ts',
    find: 'export class RateLimit',
    replace: `const waitMsMax = 1_000
export class RateLimit`,
  },
  {
    proof: 'options are grouped by subject: no interface of them has more than 12 members',
    test: 'tidy.test.ts',
    file: 'roles/node/node.ts',
    find: 'export interface NodeOptions {',
    replace: `export interface NodeOptions {
  server: string
  tokenFile: string
  caHash: string
`,
  },
  {
    proof: 'no package reads argv, env or signals',
    test: 'tidy.test.ts',
    file: 'packages/base/message-of.ts',
    find: 'export function messageOf',
    replace: `export const debug = process.env['DEBUG']
export function messageOf`,
  },
  {
    proof: 'nothing is left open without an owner',
    test: 'tidy.test.ts',
    file: 'packages/base/message-of.ts',
    find: 'export function messageOf',
    // In two parts, because the rule holds for this file as well.
    replace: `// ${'TO'}${'DO'}: later
export function messageOf`,
  },
  {
    proof: 'no test waits on the wall clock, is skipped for good or runs alone',
    test: 'tidy.test.ts',
    file: 'packages/base/give-way.test.ts',
    find: `import { test } from 'node:test'`,
    replace: `import { test } from 'node:test'
test.only('alone', () => {})`,
  },
  {
    proof: 'architecture stays readable: the map is under 300 lines',
    test: 'tidy.test.ts',
    file: 'ARCHITECTURE.md',
    find: `# Architecture

This`,
    replace: `# Architecture${'\n'.repeat(200)}This`,
  },
  {
    proof: 'every skerry command and option in a document exists',
    test: 'docs.test.ts',
    file: 'docs/known-limits.md',
    find: '`skerry down` and `skerry up` write everything again',
    replace: '`skerry downs` and `skerry up` write everything again',
  },
  {
    proof: 'the request paths of the architecture follow the imports',
    test: 'docs.test.ts',
    file: 'ARCHITECTURE.md',
    find: '`resource-handler` → `list` → `watch-cache`',
    replace: '`resource-handler` → `watch-cache` → `list`',
  },
  {
    proof: 'no package reads the wall clock but base',
    test: 'tidy.test.ts',
    file: 'packages/controller-runtime/work-queue.ts',
    find: 'export interface WorkQueueOptions {',
    replace: `export const startedMs = Date.now()

export interface WorkQueueOptions {`,
  },
  {
    proof: 'comments, documents, titles and messages keep to the rules of English',
    test: 'tidy.test.ts',
    file: 'packages/controller-runtime/work-queue.ts',
    find: 'export interface WorkQueueOptions {',
    replace: `/** ${'O'}f a queue, and what is in it. ${'W'}hat is it? */
export interface WorkQueueOptions {`,
  },
]
