# An owner that was never there.
Show: secrets, events
Quiet: 1500ms

### owners that are not there
create
  kind: Secret
  metadata: {name: lost, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: 11111111-2222-3333-4444-555555555555}]}
wait secrets/lost gone

### of a scope that cannot be
create
  kind: Secret
  metadata: {name: wrong, ownerReferences: [{apiVersion: v1, kind: Gadget, name: nobody, uid: 11111111-2222-3333-4444-555555555556}]}
