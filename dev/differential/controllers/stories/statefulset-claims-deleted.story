# Claims that go with the set.
Counts: vary
Quiet: 1500ms

### one with a claim
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 1
    persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}
    volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
wait pods length = 1
evolve

### deleted
delete statefulsets/web
wait pods length = 0
