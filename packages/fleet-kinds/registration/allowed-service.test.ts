import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  allowancesOf,
  allowedServiceText,
  coversPort,
  parseAllowedService,
} from './allowed-service.ts'

test('an allowance names a namespace, and a service and port of it or all', () => {
  const table: [text: string, isAnywhere: boolean][] = [
    ['shop/web:80', false],
    ['shop/web:http', false],
    ['shop/*:80', false],
    ['shop/web:*', false],
    ['shop/*:*', false],
    ['anywhere=shop/web:80', true],
    ['anywhere=shop/web:http', true],
  ]
  for (const [text, isAnywhere] of table) {
    const allowed = parseAllowedService(text)
    assert.ok(allowed, text)
    assert.equal(allowed.isAnywhere === true, isAnywhere, text)
    assert.equal(allowedServiceText(allowed), text)
  }
  const wrong = [
    '',
    'web',
    'web:80',
    'shop/web',
    '*/web:80',
    'shop/web-*:80',
    'shop/web:8*',
    'shop/web:0',
    'shop/web:65536',
    'shop/web:080',
    'shop/web:80:90',
    'shop/web/x:80',
    'SHOP/web:80',
    'shop/web:80 ',
    'anywhere=shop/*:80',
    'anywhere=shop/web:*',
    'anywhere=anywhere=shop/web:80',
    'elsewhere=shop/web:80',
  ]
  for (const text of wrong) assert.equal(parseAllowedService(text), undefined, text)
})

test('an allowance covers its own namespace, service and port, and nothing else', () => {
  const allowed = ['shop/web:80', 'shop/db:*', 'mail/*:smtp'].flatMap(
    (text) => parseAllowedService(text) ?? [],
  )
  const table: [namespace: string, name: string, ports: string[], isCovered: boolean][] = [
    ['shop', 'web', ['80', 'http'], true],
    ['shop', 'web', ['81', 'admin'], false],
    ['shop', 'web2', ['80', ''], false],
    ['shop', 'db', ['5432', ''], true],
    ['mail', 'relay', ['25', 'smtp'], true],
    ['mail', 'relay', ['80', ''], false],
    ['bank', 'web', ['80', ''], false],
  ]
  for (const [namespace, name, ports, isCovered] of table) {
    const found = allowancesOf(allowed, { namespace, name })
    const covering = found.filter((each) => coversPort(each, ports))
    assert.equal(covering.length > 0, isCovered, `${namespace}/${name}:${ports[0]}`)
  }
})
