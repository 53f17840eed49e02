import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import {
  customOffer,
  negotiate,
  objectOffer,
  reviewOffer,
  wantsPretty,
  type Offer,
} from './negotiate.ts'

test('the client gets the first acceptable representation that can be produced', () => {
  const table: readonly [string | undefined, string][] = [
    [undefined, 'json object'],
    ['*/*', 'json object'],
    ['application/yaml', 'yaml object'],
    ['*/*,application/yaml', 'yaml object'],
    ['application/vnd.kubernetes.protobuf,application/json', 'protobuf object'],
    ['application/json;q=0.5,application/vnd.kubernetes.protobuf', 'protobuf object'],
    [
      'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json',
      'json object',
    ],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      'protobuf partial',
    ],
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
})

test('a representation that cannot be produced is refused with a list of those that can', () => {
  const watch = { ...objectOffer, of: 'watch' } as const
  const table: readonly [string, Offer, string][] = [
    [
      'text/html',
      objectOffer,
      'Available representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    [
      'application/*',
      objectOffer,
      'Available representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    [
      'application/cbor',
      watch,
      'Available representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ],
    [
      'application/yaml',
      watch,
      'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ],
    [
      'application/json;stream=other',
      objectOffer,
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    [
      'application/vnd.kubernetes.protobuf',
      customOffer,
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    [
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      reviewOffer,
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    [
      'application/json;as=Table;v=v2;g=meta.k8s.io',
      customOffer,
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
  ]
  for (const [accept, offer, wanted] of table) {
    assert.throws(
      () => negotiate(accept, false, offer),
      (error) => isStatusError(error, 'NotAcceptable') && error.message.endsWith(wanted),
      accept,
    )
  }
})

test('people get indented JSON', () => {
  const no = new URLSearchParams()
  assert.equal(wantsPretty(no, 'curl/8.5'), true)
  assert.equal(wantsPretty(no, 'kubectl/v1.35.2'), false)
  assert.equal(wantsPretty(new URLSearchParams('pretty=true'), 'kubectl/v1.35.2'), true)
})
