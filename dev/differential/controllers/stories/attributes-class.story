# A class that volumes use is not deleted.
Show: volumeattributesclasses, events
Quiet: 1s

### a class
create
  kind: VolumeAttributesClass
  metadata: {name: attributes-a}
  driverName: example.com
  parameters: {a: b}
wait volumeattributesclasses/attributes-a metadata.finalizers

### it goes
delete volumeattributesclasses/attributes-a
wait volumeattributesclasses/attributes-a gone
