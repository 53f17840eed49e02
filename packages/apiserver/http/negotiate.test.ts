import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import { negotiate, wantsPretty } from './negotiate.ts'

test('the client gets the first representation it accepts that can be made', () => {
  const table: readonly [string | undefined, string][] = [
    [undefined, 'json object'],
    ['*/*', 'json object'],
    ['application/yaml', 'yaml object'],
    ['application/vnd.kubernetes.protobuf,application/json', 'json object'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'json table'],
    ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'json table'],
    ['application/json;as=Unheard;v=v1;g=meta.k8s.io,application/json', 'json object'],
    ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'json partial'],
    ['application/json;q=0.5,application/yaml;q=0.9', 'yaml object'],
  ]
  for (const [accept, wanted] of table) {
    const { encoding, as } = negotiate(accept, false)
    assert.equal(`${encoding} ${as}`, wanted, accept ?? 'no Accept')
  }
  assert.throws(
    () => negotiate('text/html', false),
    (error) => isStatusError(error, 'NotAcceptable'),
  )
})

test('people get indented JSON', () => {
  const no = new URLSearchParams()
  assert.equal(wantsPretty(no, 'curl/8.5'), true)
  assert.equal(wantsPretty(no, 'kubectl/v1.35.2'), false)
  assert.equal(wantsPretty(new URLSearchParams('pretty=true'), 'kubectl/v1.35.2'), true)
})
