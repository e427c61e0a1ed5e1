import java.io.File;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogSegment;

// What Kafka's Cleaner.cleanInto does with a segment once it is decided what stays: the
// batches are filtered, what is left is appended to a new segment, and that is closed.
// Arguments: the batches, directory and base offset of the new segment, index.interval.bytes,
// the offsets of the records that stay, the last offsets of the batches that stay empty.
public class CleanedSegment {
    public static void main(String[] args) throws Exception {
        Set<Long> records = offsets(args[4]), emptied = offsets(args[5]);
        ByteBuffer source = ByteBuffer.wrap(Files.readAllBytes(new File(args[0]).toPath()));
        MemoryRecords.RecordFilter filter = new MemoryRecords.RecordFilter(0, 86400000) {
            @Override
            protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
                boolean stays = emptied.contains(batch.lastOffset());
                return new BatchRetentionResult(stays ? BatchRetention.RETAIN_EMPTY : BatchRetention.DELETE_EMPTY, false);
            }

            @Override
            protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
                return records.contains(record.offset());
            }
        };
        MemoryRecords.FilterResult result = MemoryRecords.readableRecords(source)
            .filterTo(filter, ByteBuffer.allocate(source.capacity()), BufferSupplier.create());
        ByteBuffer left = result.outputBuffer();
        left.flip();
        LogConfig config = new LogConfig(Map.of("index.interval.bytes", args[3]));
        LogSegment segment = LogSegment.open(new File(args[1]), Long.parseLong(args[2]), config, Time.SYSTEM, 0, false);
        segment.append(result.maxOffset(), MemoryRecords.readableRecords(left));
        segment.onBecomeInactiveSegment();
        segment.flush();
        segment.close();
    }

    private static Set<Long> offsets(String list) {
        Set<Long> all = new HashSet<>();
        for (String o : list.split(",")) {
            if (!o.isEmpty()) {
                all.add(Long.parseLong(o));
            }
        }
        return all;
    }
}
