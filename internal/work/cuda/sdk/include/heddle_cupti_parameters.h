// The parameters in heddle_cupti_calls.h as fields of a struct, as parameters, and as their names.
#ifndef HEDDLE_CUPTI_PARAMETERS_H
#define HEDDLE_CUPTI_PARAMETERS_H

#define HEDDLE_FIELDS_0()
#define HEDDLE_PARAMETERS_0() void
#define HEDDLE_NAMES_0()
#define HEDDLE_FIELDS_1(type, name) type name;
#define HEDDLE_PARAMETERS_1(type, name) type name
#define HEDDLE_NAMES_1(type, name) name
#define HEDDLE_FIELDS_2(type, name, ...) type name; HEDDLE_FIELDS_1(__VA_ARGS__)
#define HEDDLE_PARAMETERS_2(type, name, ...) type name, HEDDLE_PARAMETERS_1(__VA_ARGS__)
#define HEDDLE_NAMES_2(type, name, ...) name, HEDDLE_NAMES_1(__VA_ARGS__)
#define HEDDLE_FIELDS_3(type, name, ...) type name; HEDDLE_FIELDS_2(__VA_ARGS__)
#define HEDDLE_PARAMETERS_3(type, name, ...) type name, HEDDLE_PARAMETERS_2(__VA_ARGS__)
#define HEDDLE_NAMES_3(type, name, ...) name, HEDDLE_NAMES_2(__VA_ARGS__)
#define HEDDLE_FIELDS_4(type, name, ...) type name; HEDDLE_FIELDS_3(__VA_ARGS__)
#define HEDDLE_PARAMETERS_4(type, name, ...) type name, HEDDLE_PARAMETERS_3(__VA_ARGS__)
#define HEDDLE_NAMES_4(type, name, ...) name, HEDDLE_NAMES_3(__VA_ARGS__)
#define HEDDLE_FIELDS_5(type, name, ...) type name; HEDDLE_FIELDS_4(__VA_ARGS__)
#define HEDDLE_PARAMETERS_5(type, name, ...) type name, HEDDLE_PARAMETERS_4(__VA_ARGS__)
#define HEDDLE_NAMES_5(type, name, ...) name, HEDDLE_NAMES_4(__VA_ARGS__)
#define HEDDLE_FIELDS_6(type, name, ...) type name; HEDDLE_FIELDS_5(__VA_ARGS__)
#define HEDDLE_PARAMETERS_6(type, name, ...) type name, HEDDLE_PARAMETERS_5(__VA_ARGS__)
#define HEDDLE_NAMES_6(type, name, ...) name, HEDDLE_NAMES_5(__VA_ARGS__)
#define HEDDLE_FIELDS_7(type, name, ...) type name; HEDDLE_FIELDS_6(__VA_ARGS__)
#define HEDDLE_PARAMETERS_7(type, name, ...) type name, HEDDLE_PARAMETERS_6(__VA_ARGS__)
#define HEDDLE_NAMES_7(type, name, ...) name, HEDDLE_NAMES_6(__VA_ARGS__)
#define HEDDLE_FIELDS_8(type, name, ...) type name; HEDDLE_FIELDS_7(__VA_ARGS__)
#define HEDDLE_PARAMETERS_8(type, name, ...) type name, HEDDLE_PARAMETERS_7(__VA_ARGS__)
#define HEDDLE_NAMES_8(type, name, ...) name, HEDDLE_NAMES_7(__VA_ARGS__)
#define HEDDLE_FIELDS_9(type, name, ...) type name; HEDDLE_FIELDS_8(__VA_ARGS__)
#define HEDDLE_PARAMETERS_9(type, name, ...) type name, HEDDLE_PARAMETERS_8(__VA_ARGS__)
#define HEDDLE_NAMES_9(type, name, ...) name, HEDDLE_NAMES_8(__VA_ARGS__)
#define HEDDLE_FIELDS_10(type, name, ...) type name; HEDDLE_FIELDS_9(__VA_ARGS__)
#define HEDDLE_PARAMETERS_10(type, name, ...) type name, HEDDLE_PARAMETERS_9(__VA_ARGS__)
#define HEDDLE_NAMES_10(type, name, ...) name, HEDDLE_NAMES_9(__VA_ARGS__)
#define HEDDLE_FIELDS_11(type, name, ...) type name; HEDDLE_FIELDS_10(__VA_ARGS__)
#define HEDDLE_PARAMETERS_11(type, name, ...) type name, HEDDLE_PARAMETERS_10(__VA_ARGS__)
#define HEDDLE_NAMES_11(type, name, ...) name, HEDDLE_NAMES_10(__VA_ARGS__)

#endif
