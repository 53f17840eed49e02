# A range of addresses is ready, and goes when nobody needs it.
Show: servicecidrs, events

### a range
create
  kind: ServiceCIDR
  metadata: {name: cidr-a}
  spec: {cidrs: [10.77.0.0/24]}
wait servicecidrs/cidr-a status.conditions.Ready.status = True

### it goes
delete servicecidrs/cidr-a
wait servicecidrs/cidr-a gone
