package inspect

import (
	"encoding/hex"
	"strings"
	"testing"

	"tidemark/model/record"
)

type coordinatorCase struct {
	key, value string // hex; no value is a tombstone
	want       string
}

// offsetRecords are of a __consumer_offsets of Apache Kafka 4.1.2, and what its own
// tool prints of them.
var offsetRecords = []coordinatorCase{
	{"0002000c7472616e73666f726d657273", "0003000000000000ffffffff000001a228de03ff00000000",
		`{"type":"2","data":{"group":"transformers"}} payload: {"version":"3","data":{"protocolType":"","generation":0,"protocol":null,"leader":null,"currentStateTimestamp":1795981968383,"members":[]}}`},
	{"0002000c7472616e73666f726d657273", "00030008636f6e73756d6572000000020012636f6f70657261746976652d737469636b7900286b676f2d61633731626562612d373066372d343066622d623535652d386461356561666466343132000001a228de073f0000000200286b676f2d61633731626562612d373066372d343066622d623535652d386461356561666466343132ffff00036b676f000a2f3132372e302e302e310000ea6000000bb8000000200003000000010002696e0000000800000000000000010000000000000001ffff0000001a0000000000010002696e000000020000000100000002ffffffff00286b676f2d61356533626264382d653032652d343334322d393237392d323166366238653034303061ffff00036b676f000a2f3132372e302e302e310000ea6000000bb80000001c0003000000010002696e000000040000000000000000ffffffffffff0000001a0000000000010002696e000000020000000000000003ffffffff",
		`{"type":"2","data":{"group":"transformers"}} payload: {"version":"3","data":{"protocolType":"consumer","generation":2,"protocol":"cooperative-sticky","leader":"kgo-ac71beba-70f7-40fb-b55e-8da5eafdf412","currentStateTimestamp":1795981969215,"members":[{"memberId":"kgo-ac71beba-70f7-40fb-b55e-8da5eafdf412","groupInstanceId":null,"clientId":"kgo","clientHost":"/127.0.0.1","rebalanceTimeout":60000,"sessionTimeout":3000,"subscription":{"topics":["in"],"userData":"AAAAAAAAAAE=","ownedPartitions":[],"generationId":1,"rackId":null},"assignment":{"assignedPartitions":[{"topic":"in","partitions":[1,2]}],"userData":null}},{"memberId":"kgo-a5e3bbd8-e02e-4342-9279-21f6b8e0400a","groupInstanceId":null,"clientId":"kgo","clientHost":"/127.0.0.1","rebalanceTimeout":60000,"sessionTimeout":3000,"subscription":{"topics":["in"],"userData":"AAAAAA==","ownedPartitions":[],"generationId":-1,"rackId":null},"assignment":{"assignedPartitions":[{"topic":"in","partitions":[0,3]}],"userData":null}}]}}`},
	{"0001000565616765720002696e00000000", "0004000000000000001d00000000296b676f2d39306230653464642d616566652d343232622d383735372d393532376130373736393739000001a228de084c00",
		`{"type":"1","data":{"group":"eager","topic":"in","partition":0}} payload: {"version":"4","data":{"offset":29,"leaderEpoch":0,"metadata":"kgo-90b0e4dd-aefe-422b-8757-9527a0776979","commitTimestamp":1795981969484}}`},
	{"000500046e65787400184e55572d724d754734787a4a797243393478787233673d3d", "00000000046b676f0b2f3132372e302e302e310203696e010000ea6008756e69666f726d01000100",
		`{"type":"5","data":{"groupId":"next","memberId":"NUW-rMuG4xzJyrC94xxr3g=="}} payload: {"version":"0","data":{"instanceId":null,"rackId":null,"clientId":"kgo","clientHost":"/127.0.0.1","subscribedTopicNames":["in"],"subscribedTopicRegex":"","rebalanceTimeoutMs":60000,"serverAssignor":"uniform","classicMemberMetadata":null}}`},
	{"000300046e657874", "0000000000010100085dd90fdbbbeffe8b",
		`{"type":"3","data":{"groupId":"next"}} payload: {"version":"0","data":{"epoch":1,"metadataHash":6762453751898832523}}`},
	{"000700046e65787400184e55572d724d754734787a4a797243393478787233673d3d", "0000026dafc8fdd2064143ba27827cb906ac6e05000000000000000100000002000000030000",
		`{"type":"7","data":{"groupId":"next","memberId":"NUW-rMuG4xzJyrC94xxr3g=="}} payload: {"version":"0","data":{"topicPartitions":[{"topicId":"ba_I_dIGQUO6J4J8uQasbg","partitions":[0,1,2,3]}]}}`},
	{"000600046e657874", "00000000000100",
		`{"type":"6","data":{"groupId":"next"}} payload: {"version":"0","data":{"assignmentEpoch":1}}`},
	{"000800046e65787400184e55572d724d754734787a4a797243393478787233673d3d", "0000000000010000000000026dafc8fdd2064143ba27827cb906ac6e0500000000000000010000000200000003000100",
		`{"type":"8","data":{"groupId":"next","memberId":"NUW-rMuG4xzJyrC94xxr3g=="}} payload: {"version":"0","data":{"memberEpoch":1,"previousMemberEpoch":0,"state":0,"assignedPartitions":[{"topicId":"ba_I_dIGQUO6J4J8uQasbg","partitions":[0,1,2,3]}],"partitionsPendingRevocation":[]}}`},
	{"000800046e6578740018516f797447613949616f543248475863376d782d4e413d3d", "",
		`{"type":"8","data":{"groupId":"next","memberId":"QoytGa9IaoT2HGXc7mx-NA=="}} payload: <DELETE>`},
}

// transactionRecords are of its __transaction_state.
var transactionRecords = []coordinatorCase{
	{"0000000b7472616e73666f726d2d31", "000100000000000000030000000027100000000001a228de029bffffffffffffffff00",
		`{"type":"0","data":{"transactionalId":"transform-1"}} payload: {"version":"1","data":{"producerId":3,"producerEpoch":0,"transactionTimeoutMs":10000,"transactionStatus":0,"transactionPartitions":null,"transactionLastUpdateTimestampMs":1795981968027,"transactionStartTimestampMs":-1}}`},
	{"0000000b7472616e73666f726d2d31", "000100000000000000030000000027100102046f757403000000000000000100000001a228de0a43000001a228de0a430102020002",
		`{"type":"0","data":{"transactionalId":"transform-1"}} payload: {"version":"1","data":{"producerId":3,"producerEpoch":0,"transactionTimeoutMs":10000,"transactionStatus":1,"transactionPartitions":[{"topic":"out","partitionIds":[0,1]}],"transactionLastUpdateTimestampMs":1795981969987,"transactionStartTimestampMs":1795981969987,"clientTransactionVersion":2}}`},
}

// otherRecords are of other versions, and such as no coordinator writes.
var otherRecords = []coordinatorCase{
	{"0001000167000174" + "00000003", "0001" + "0000000000000007" + "00026d6d" + "0000000000000001" + "0000000000000002",
		`{"type":"1","data":{"group":"g","topic":"t","partition":3}} payload: {"version":"1","data":{"offset":7,"metadata":"mm","commitTimestamp":1,"expireTimestamp":2}}`},
	{"0001000167000174" + "00000003", "0003" + "0000000000000007" + "00000005" + "0000" + "0000000000000001",
		`{"type":"1","data":{"group":"g","topic":"t","partition":3}} payload: {"version":"3","data":{"offset":7,"leaderEpoch":5,"metadata":"","commitTimestamp":1}}`},
	{"0010000167" + "0003612e2a", "0000" + "0202" + "0000000000000007" + "00",
		`Error at offset 5, skipping. the value is not well formed`},
	{"0010000167" + "0003612e2a", "0000" + "020261" + "0000000000000009" + "0000000000000007" + "00",
		`{"type":"16","data":{"groupId":"g","regularExpression":"a.*"}} payload: {"version":"0","data":{"topics":["a"],"version":9,"timestamp":7}}`},
	{"0005000167" + "00016d", "0000010101010101000000000001000c010000000502026102010000",
		`{"type":"5","data":{"groupId":"g","memberId":"m"}} payload: {"version":"0","data":{"instanceId":"","rackId":"","clientId":"","clientHost":"","subscribedTopicNames":[],"subscribedTopicRegex":"","rebalanceTimeoutMs":0,"serverAssignor":null,` +
			`"classicMemberMetadata":{"sessionTimeoutMs":5,"supportedProtocols":[{"name":"a","metadata":"AQ=="}]}}}`},
	{"0063", "00", `Unknown record type 99 at offset 5, skipping.`},
	{"00", "00", `Error at offset 5, skipping. the key is not well formed`},
	{"00010001", "00", `Error at offset 5, skipping. the key is not well formed`},
	{"0003000167", "0007", `Error at offset 5, skipping. version 7 of the value of record type 3 is not known`},
}

func (c coordinatorCase) check(t *testing.T, of Coordinator) {
	t.Helper()
	var err error
	r := record.Record{Offset: 5}
	if r.Key, err = hex.DecodeString(c.key); err != nil {
		t.Fatal(err)
	}
	if c.value != "" {
		if r.Value, err = hex.DecodeString(c.value); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.TrimPrefix(Entry{"record", of.fields(r)}.Text(), "| key: "); got != c.want {
		t.Errorf("%s %s:\n%s, want\n%s", c.key, c.value, got, c.want)
	}
}

func TestRecordsOfCoordinatorsAreDecodedAsKafkasToolDoes(t *testing.T) {
	for _, c := range append(offsetRecords, otherRecords...) {
		c.check(t, GroupCoordinator)
	}
	for _, c := range transactionRecords {
		c.check(t, TransactionCoordinator)
	}
}

// FuzzCoordinatorRecord: whatever key and value are, something is told of them.
func FuzzCoordinatorRecord(f *testing.F) {
	for _, c := range append(append(offsetRecords, otherRecords...), transactionRecords...) {
		key, _ := hex.DecodeString(c.key)
		value, _ := hex.DecodeString(c.value)
		f.Add(key, value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		for _, of := range []Coordinator{GroupCoordinator, TransactionCoordinator} {
			e := Entry{"record", of.fields(record.Record{Key: key, Value: value})}
			if text := e.Text(); text == "" || len(text) > 200*(len(key)+len(value))+1000 {
				t.Errorf("%d bytes come out of %d", len(text), len(key)+len(value))
			}
		}
	})
}
